-- The rest of the file is a comment.
var x: 0..3;

startstate begin x := 0; end; /* one rule

rule x = 0 ==> begin x := 1; end;
