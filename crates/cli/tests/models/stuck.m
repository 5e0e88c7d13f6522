-- Walks to the end and stays there.
var x: 0..2;
startstate begin x := 0; end;
rule "walk" x < 2 ==> begin x := x + 1; end;
rule "wait" x = 2 ==> begin x := 2; end;
