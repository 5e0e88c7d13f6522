-- The social golfer problem as scheduling.
--
-- GROUPS * SIZE golfers play for WEEKS weeks in groups of SIZE, and no two of them may meet twice.
-- A schedule is filled one golfer a step; a golfer joins a group that has a place and nobody whom
-- they have met in another week. Golfers are interchangeable, weeks are, and so are the groups within
-- each week.
--
-- expect: holds
-- deadlock: off
-- states: 3597
-- rules fired: 16944

const
  GROUPS: 2;
  SIZE: 2;
  WEEKS: 2;

type
  golfer: 1 .. GROUPS * SIZE;
  week: 1 .. WEEKS;
  team: 1 .. GROUPS;

var
  plays_in: array [week] of array [golfer] of team;  -- undefined before it is decided

function together(w: week; p: golfer; q: golfer): boolean;
begin
  return !isundefined(plays_in[w][p]) & !isundefined(plays_in[w][q]) & plays_in[w][p] = plays_in[w][q];
end;

function members(w: week; t: team): 0 .. GROUPS * SIZE;
var count: 0 .. GROUPS * SIZE;
begin
  count := 0;
  for p: golfer do
    if !isundefined(plays_in[w][p]) & plays_in[w][p] = t then
      count := count + 1;
    end;
  end;
  return count;
end;

startstate "nothing decided"
  for w: week do for p: golfer do
    undefine plays_in[w][p];
  end end;
end;

ruleset w: week; p: golfer; t: team do
  rule "join"
    isundefined(plays_in[w][p])
    & members(w, t) < SIZE
    & (forall q: golfer do
         q != p & !isundefined(plays_in[w][q]) & plays_in[w][q] = t ->
           forall v: week do v != w -> !together(v, p, q) end
       end)
  ==>
    plays_in[w][p] := t;
  end;
end;

cover "a full schedule"
  forall w: week do forall p: golfer do !isundefined(plays_in[w][p]) end end;
