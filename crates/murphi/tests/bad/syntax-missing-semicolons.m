-- Statements are separated by semicolons; declarations and rules need none.
var x: 0..3 y: boolean

startstate begin
  x := 0
  y := false
end

rule x = 0 ==> begin
  x := 1
  if y then
    y := false
    x := 2
  end
  y := true
end
