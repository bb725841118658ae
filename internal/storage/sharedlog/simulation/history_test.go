package simulation

import (
	"testing"
	"time"
)

// TestHistory passes histories of one list to `check`. In each history the operations follow one
// another, and each takes one unit of time.
func TestHistory(t *testing.T) {
	appends := func(token, expect int, o outcome) done {
		return done{op: op{kind: write, token: token, expect: expect}, outcome: o}
	}
	reads := func(kind opKind, token int, list ...int) done {
		return done{op: op{kind: kind, token: token, expect: -1}, list: list}
	}
	for _, tt := range []struct {
		name    string
		history []done
		ok      bool
	}{
		{"acknowledged and read", []done{appends(1, -1, outcomeOK), appends(2, 1, outcomeOK), reads(latest, 0, 1, 2)}, true},
		{"acknowledged and lost", []done{appends(1, -1, outcomeOK), appends(2, -1, outcomeOK), reads(latest, 0, 2)}, false},
		{"doubled", []done{appends(1, -1, outcomeOK), reads(latest, 0, 1, 1)}, false},
		{"old latest read", []done{appends(1, -1, outcomeOK), reads(latest, 0), reads(latest, 0, 1)}, false},
		{"old read", []done{appends(1, -1, outcomeOK), reads(stale, 0), reads(latest, 0, 1)}, true},
		{"read of another past", []done{appends(1, -1, outcomeOK), reads(stale, 0, 2), reads(latest, 0, 1)}, false},
		{"at least, old", []done{appends(1, -1, outcomeOK), reads(atLeast, 1), reads(latest, 0, 1)}, false},
		{"at least", []done{appends(1, -1, outcomeOK), reads(atLeast, 1, 1), reads(latest, 0, 1)}, true},
		{"precondition held and refused", []done{appends(1, 0, outcomeFailed), reads(latest, 0)}, false},
		{"precondition broken and accepted", []done{appends(1, -1, outcomeOK), appends(2, 0, outcomeOK), reads(latest, 0, 1, 2)}, false},
		{"unknown, never seen", []done{appends(1, -1, outcomeUnknown), reads(latest, 0)}, true},
		{"unknown, seen", []done{appends(1, -1, outcomeUnknown), reads(latest, 0), reads(latest, 0, 1)}, true},
		{"unknown, seen and lost", []done{appends(1, -1, outcomeUnknown), reads(latest, 0, 1), reads(latest, 0)}, false},
		{"unknown, seen before it was called", []done{reads(latest, 0, 1), appends(1, -1, outcomeUnknown), reads(latest, 0, 1)}, false},
		{"unknown, against its precondition", []done{appends(1, -1, outcomeOK), appends(2, 0, outcomeUnknown), reads(latest, 0, 1, 2)}, false},
		{"refused, but stored", []done{reads(latest, 0, 1)}, false},
	} {
		var h history
		for i, d := range tt.history {
			d.key = keys[0]
			d.called = time.Duration(10 * i)
			returned := d.called + 9
			if d.outcome == outcomeUnknown {
				returned = forever
			}
			h.add(d.op, d.outcome, d.list, returned)
		}
		if got := h.check(); (got == "") != tt.ok {
			t.Errorf("%s: the check returns %q", tt.name, got)
		}
	}
}
