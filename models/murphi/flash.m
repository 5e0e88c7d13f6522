-- A directory protocol with three-hop requests, in the manner of the FLASH multiprocessor's.
--
-- N caches share one memory line, whose home keeps a directory: who may have a copy, and whether
-- one cache has it exclusively. A request goes to home. If another cache owns the line, home
-- forwards the request there, and the owner answers the requester directly; it also tells home.
-- Exclusive requests invalidate all other copies; home waits for the acknowledgements before it
-- serves the next request. A cache can give its copy up at any time; a request that finds an
-- owner without the line is refused and made again. Messages and directory hold names of caches.
--
-- expect: holds
-- states: 28384
-- rules fired: 120972
-- with N=2: states 1032, rules fired 2958

const
  N: 3;

type
  node: 1..N;
  rights: enum { invalid, shared, exclusive };
  wish: enum { idle, for_shared, for_exclusive };
  command: enum { none, get, get_exclusive, forward_get, forward_get_exclusive, grant, grant_exclusive, refused };
  message: enum { no_notice, now_shared, now_owned, no_owner };

var
  cache: array [node] of record
    permission: rights;
    waiting: wish;
    -- An invalidation came while a shared copy was on its way.
    spoilt: boolean;
  end;

  -- The request of each cache on its way: to home, to the owner that home named, or back.
  request: array [node] of record
    command: command;
    owner: node;  -- undefined unless it is forwarded
  end;
  invalidation: array [node] of boolean;
  acknowledgement: array [node] of boolean;
  written_back: array [node] of boolean;

  -- What an owner tells home when it has answered a forwarded request.
  notice: record
    kind: message;
    requester: node;
    sender: node;
  end;

  -- The directory.
  dirty: boolean;
  head: node;  -- the owner; undefined unless dirty
  sharers: array [node] of boolean;
  pending: boolean;

startstate "nobody has a copy"
  for n: node do
    cache[n].permission := invalid;
    cache[n].waiting := idle;
    cache[n].spoilt := false;
    request[n].command := none;
    invalidation[n] := false;
    acknowledgement[n] := false;
    written_back[n] := false;
    sharers[n] := false;
  end;
  notice.kind := no_notice;
  dirty := false;
  pending := false;
end;

ruleset n: node do
  alias me: cache[n]; mine: request[n] do

    rule "ask for a shared copy"
      me.permission = invalid & me.waiting = idle & mine.command = none & !invalidation[n] & !written_back[n]
    ==>
      me.waiting := for_shared;
      mine.command := get;
    end;

    rule "ask for the exclusive copy"
      me.permission != exclusive & me.waiting = idle & mine.command = none & !invalidation[n] & !written_back[n]
    ==>
      me.permission := invalid;
      me.waiting := for_exclusive;
      mine.command := get_exclusive;
    end;

    rule "give a shared copy up"
      me.permission = shared & me.waiting = idle
    ==>
      me.permission := invalid;
    end;

    rule "write the exclusive copy back"
      me.permission = exclusive & !written_back[n]
    ==>
      me.permission := invalid;
      written_back[n] := true;
    end;

    rule "receive a shared copy"
      mine.command = grant
    ==>
      if me.spoilt then
        me.permission := invalid;
      else
        me.permission := shared;
      end;
      me.spoilt := false;
      me.waiting := idle;
      mine.command := none;
    end;

    rule "receive the exclusive copy"
      mine.command = grant_exclusive
    ==>
      me.permission := exclusive;
      me.spoilt := false;
      me.waiting := idle;
      mine.command := none;
    end;

    rule "hear of a refusal"
      mine.command = refused
    ==>
      me.spoilt := false;
      me.waiting := idle;
      mine.command := none;
    end;

    rule "obey an invalidation"
      invalidation[n]
    ==>
      invalidation[n] := false;
      acknowledgement[n] := true;
      me.permission := invalid;
      if me.waiting = for_shared then
        me.spoilt := true;
      end;
    end;

    -- Home.

    rule "home refuses while it waits"
      pending & (mine.command = get | mine.command = get_exclusive)
    ==>
      mine.command := refused;
    end;

    rule "home grants a shared copy"
      !pending & !dirty & mine.command = get
    ==>
      sharers[n] := true;
      mine.command := grant;
    end;

    rule "home forwards a request for a shared copy"
      !pending & dirty & mine.command = get & head != n
    ==>
      pending := true;
      mine.command := forward_get;
      mine.owner := head;
    end;

    rule "home refuses an owner that has not written back"
      !pending & dirty & (mine.command = get | mine.command = get_exclusive) & head = n
    ==>
      mine.command := refused;
    end;

    rule "home grants the exclusive copy"
      !pending & !dirty & mine.command = get_exclusive
    ==>
      for m: node do
        if m != n & sharers[m] then
          invalidation[m] := true;
          pending := true;
        end;
        sharers[m] := false;
      end;
      dirty := true;
      head := n;
      mine.command := grant_exclusive;
    end;

    rule "home forwards a request for the exclusive copy"
      !pending & dirty & mine.command = get_exclusive & head != n
    ==>
      pending := true;
      mine.command := forward_get_exclusive;
      mine.owner := head;
    end;

    rule "home counts an acknowledgement"
      acknowledgement[n]
    ==>
      acknowledgement[n] := false;
      if forall m: node do m != n -> !acknowledgement[m] & !invalidation[m] end & !invalidation[n] then
        pending := false;
      end;
    end;

    rule "home takes the line back"
      written_back[n]
    ==>
      written_back[n] := false;
      dirty := false;
      undefine head;
    end;
  end;
end;

ruleset n: node; p: node do
  alias mine: request[n] do

    rule "an owner shares its copy"
      mine.command = forward_get & mine.owner = p & cache[p].permission = exclusive & notice.kind = no_notice
    ==>
      cache[p].permission := shared;
      mine.command := grant;
      undefine mine.owner;
      notice.kind := now_shared;
      notice.requester := n;
      notice.sender := p;
    end;

    rule "an owner hands its copy over"
      mine.command = forward_get_exclusive & mine.owner = p & cache[p].permission = exclusive
      & notice.kind = no_notice
    ==>
      cache[p].permission := invalid;
      mine.command := grant_exclusive;
      undefine mine.owner;
      notice.kind := now_owned;
      notice.requester := n;
      notice.sender := p;
    end;

    rule "an owner without the line refuses"
      (mine.command = forward_get | mine.command = forward_get_exclusive) & mine.owner = p
      & cache[p].permission != exclusive & notice.kind = no_notice
    ==>
      mine.command := refused;
      undefine mine.owner;
      notice.kind := no_owner;
      notice.requester := n;
      notice.sender := p;
    end;

    rule "home hears that the line is shared"
      notice.kind = now_shared & notice.requester = n & notice.sender = p
    ==>
      sharers[n] := true;
      sharers[p] := true;
      dirty := false;
      undefine head;
      pending := false;
      undefine notice;
      notice.kind := no_notice;
    end;

    rule "home hears of a new owner"
      notice.kind = now_owned & notice.requester = n & notice.sender = p
    ==>
      head := n;
      pending := false;
      undefine notice;
      notice.kind := no_notice;
    end;

    rule "home hears that there is no owner"
      notice.kind = no_owner & notice.requester = n & notice.sender = p
    ==>
      pending := false;
      undefine notice;
      notice.kind := no_notice;
    end;
  end;
end;

invariant "one owner"
  forall n: node do forall m: node do
    n != m -> !(cache[n].permission = exclusive & cache[m].permission = exclusive)
  end end;

invariant "an owner is alone once everybody has obeyed"
  forall n: node do forall m: node do
    n != m & cache[n].permission = exclusive & cache[m].permission = shared -> invalidation[m]
  end end;
