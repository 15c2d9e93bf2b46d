-- German's cache protocol by hand, with the rules as published; leftovers are cleared. Three clients, two values.
-- Memory holds any of them at first.
-- What `protocols/german.tri` is compared with in docs/checking.md.
const N: 3; D: 2;
type Node: 1..N; Data: 0..D-1;
  Cmd: enum { Empty, ReqS, ReqE, Inv, InvAck, GntS, GntE };
  Msg: record cmd: Cmd; data: Data; end;
  Cache: record state: enum { I, S, E }; data: Data; end;
var cache: array [Node] of Cache; chan1, chan2, chan3: array [Node] of Msg;
  inv, shr: array [Node] of boolean; exg: boolean; cur: Cmd; ptr: Node; mem, aux: Data;
ruleset i: Node do
  ruleset d: Data do rule "store" cache[i].state = E ==> begin cache[i].data := d; aux := d; end; end;
  rule "ReqS" chan1[i].cmd = Empty & cache[i].state = I ==> begin chan1[i].cmd := ReqS; end;
  rule "ReqE" chan1[i].cmd = Empty & cache[i].state != E ==> begin chan1[i].cmd := ReqE; end;
  rule "recv ReqS" cur = Empty & chan1[i].cmd = ReqS ==> begin
    cur := ReqS; ptr := i; chan1[i].cmd := Empty; for j: Node do inv[j] := shr[j]; end; end;
  rule "recv ReqE" cur = Empty & chan1[i].cmd = ReqE ==> begin
    cur := ReqE; ptr := i; chan1[i].cmd := Empty; for j: Node do inv[j] := shr[j]; end; end;
  rule "Inv" chan2[i].cmd = Empty & inv[i] & (cur = ReqE | cur = ReqS & exg) ==> begin
    chan2[i].cmd := Inv; inv[i] := false; end;
  rule "InvAck" chan2[i].cmd = Inv & chan3[i].cmd = Empty ==> begin chan2[i].cmd := Empty; chan3[i].cmd := InvAck;
    if cache[i].state = E then chan3[i].data := cache[i].data; end; cache[i].state := I; clear cache[i].data; end;
  rule "recv InvAck" chan3[i].cmd = InvAck & cur != Empty ==> begin chan3[i].cmd := Empty; shr[i] := false;
    if exg then exg := false; mem := chan3[i].data; end; clear chan3[i].data; end;
  rule "GntS" cur = ReqS & ptr = i & chan2[i].cmd = Empty & !exg ==> begin
    chan2[i].cmd := GntS; chan2[i].data := mem; shr[i] := true; cur := Empty; clear ptr;
    for j: Node do inv[j] := false; end; end;
  rule "GntE" cur = ReqE & ptr = i & chan2[i].cmd = Empty & !exg & forall j: Node do !shr[j] end ==> begin
    chan2[i].cmd := GntE; chan2[i].data := mem; shr[i] := true; exg := true; cur := Empty; clear ptr;
    for j: Node do inv[j] := false; end; end;
  rule "recv GntS" chan2[i].cmd = GntS ==> begin
    cache[i].state := S; cache[i].data := chan2[i].data; clear chan2[i]; end;
  rule "recv GntE" chan2[i].cmd = GntE ==> begin
    cache[i].state := E; cache[i].data := chan2[i].data; clear chan2[i]; end;
end;
ruleset d: Data do startstate begin
  clear cache; clear chan1; clear chan2; clear chan3;
  for i: Node do chan1[i].cmd := Empty; inv[i] := false; shr[i] := false; end;
  exg := false; cur := Empty; clear ptr; mem := d; aux := d;
end; end;
invariant forall i: Node do forall j: Node do i = j | cache[i].state != E | cache[j].state = I end end;
invariant exg | mem = aux;
invariant forall i: Node do cache[i].state = I | cache[i].data = aux end;
