-- Slips in the headers of functions and procedures.
var x: 0..3;

function missing_parameters: boolean;
begin
  return true;
end;

function commas(a: 0..3, b: 0..3): boolean;
begin
  return a = b;
end;

function no_type(a): boolean;
begin
  return a;
end;

procedure (x: boolean);
begin
end;

function right(a: 0..3; var b: boolean): boolean;
begin
  return b;
end;

startstate begin x := 0; end;
