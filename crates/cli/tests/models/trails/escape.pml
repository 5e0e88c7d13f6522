/* goto, unless, labels, else, nested selections */
byte s; byte tick;
active proctype M() {
again: if :: s < 2 -> s++; goto again
   :: s == 2 -> { do :: tick < 3 -> tick++ :: else -> skip od } unless { tick == 3 -> s = 7 }
   fi;
   assert(s == 2)
}
