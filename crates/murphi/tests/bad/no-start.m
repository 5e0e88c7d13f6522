-- A model without a startstate is accepted with a warning.
var x: boolean;
rule begin x := true; end;
