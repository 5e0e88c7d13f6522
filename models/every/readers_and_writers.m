-- Readers and writers: processes of two types, any number of each.
--
-- A reader enters while the door is open. A writer closes the door, and enters when nobody is inside. (P.-J. Courtois, F. Heymans,
-- D. Parnas: Concurrent control with "readers" and "writers", 1971; the counter of readers is a question about all here.)
--
-- The mistake: a writer that has closed the door does not wait for the readers inside.
--
-- every READERS, WRITERS: holds
-- every READERS, WRITERS with WRONG=1: violated with READERS = 1, WRITERS = 1

const
  READERS: 2;
  WRITERS: 2;
  WRONG: 0;  -- whether the mistake is made

type
  reader: scalarset(READERS);
  writer: scalarset(WRITERS);

var
  reads: array [reader] of boolean;
  writer_at: array [writer] of enum { outside, closing, writing };
  closed_by: writer;  -- undefined while the door is open

startstate "all outside"
  for r: reader do
    reads[r] := false;
  end;
  for w: writer do
    writer_at[w] := outside;
  end;
end;

ruleset r: reader do

  rule "begin to read"
    !reads[r] & isundefined(closed_by)
  ==>
    reads[r] := true;
  end;

  rule "end reading"
    reads[r]
  ==>
    reads[r] := false;
  end;

end;

ruleset w: writer do

  rule "close the door"
    writer_at[w] = outside & isundefined(closed_by)
  ==>
    writer_at[w] := closing;
    closed_by := w;
  end;

  rule "begin to write"
    writer_at[w] = closing & (WRONG = 1 | forall r: reader do !reads[r] end)
  ==>
    writer_at[w] := writing;
  end;

  rule "end writing"
    writer_at[w] = writing
  ==>
    writer_at[w] := outside;
    undefine closed_by;
  end;

end;

invariant "nobody reads while one writes"
  forall r: reader do forall w: writer do !(reads[r] & writer_at[w] = writing) end end;

invariant "one writes"
  forall w: writer do forall v: writer do writer_at[w] = writing & writer_at[v] = writing -> w = v end end;
