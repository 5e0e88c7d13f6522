-- Two bits, each with a rule of its own. The second is a copy of the first under another name.
var
  x, y: boolean;

startstate "both down"
  x := false;
  y := false;
end;

rule "raise x"
  !x
==>
  x := true;
end;

rule "lift y"
  !y
==>
  y := true;
end;

invariant "not both"
  !(x & y);
