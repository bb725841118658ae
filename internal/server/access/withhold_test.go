package access_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// TestWithheld checks each error of a write as an actor without the right to read gets it. The
// error keeps the caller's own values and the rules of the schema. STORED stands for stored data.
func TestWithheld(t *testing.T) {
	violation := func(rule, id, detail string) *engine.ConstraintViolation {
		return &engine.ConstraintViolation{Entity: "node", Type: "Person", ID: id, Property: "p", Rule: rule, Detail: detail}
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{violation("required", "STORED", "the value is missing; give one of type String"), "node Person, property p: the value is missing; give one of type String (required)"},
		{violation("type", "STORED", "found a value of type I32, expected String"), "node Person, property p: found a value of type I32, expected String (type)"},
		{violation("range", "STORED", "found 200, expected at most 150"), "node Person, property p: found 200, expected at most 150 (range)"},
		{violation("check", "STORED", `found "x", expected a text that matches @`), `node Person, property p: found "x", expected a text that matches @ (check)`},
		{violation("enum", "STORED", `found "x", expected one of a, b`), `node Person, property p: found "x", expected one of a, b (enum)`},
		{violation("key", "STORED", `the key determines the id "ada"`), `node Person, property p: the key determines the id "ada" (key)`},
		{violation("endpoint", "", `node Person "zed" does not exist`), `node Person, property p: node Person "zed" does not exist (endpoint)`},
		{violation("endpoint", "STORED", `the load would remove node "STORED"`), "node Person, property p: the write would remove a node that an edge joins (endpoint)"},
		{violation("unique", "STORED", `"STORED" already has the same values`), "node Person, property p: another entity has the same values (unique)"},
		{violation("cardinality", "", `node "STORED" would have 3 edges`), "node Person, property p: a node would have too few or too many edges of this type (cardinality)"},
		{violation("a rule to come", "STORED", "STORED"), "node Person, property p: the write breaks the rule (a rule to come)"},
		{&engine.PreconditionFailed{Expected: "A", Actual: "STORED"}, "the branch is not at commit A"},
		{&engine.KeyConflict{Entity: "node", Type: "Person", ID: "ada"}, `node Person "ada" exists already`},
		{&engine.KeyConflict{Entity: "node", Type: "Person", ID: "ada", Line: 3}, `node Person "ada" is in line 3 too; keep one of the lines`},
		{&engine.KeyConflict{Entity: "edge", Type: "Knows", ID: "STORED", Line: 3}, "the edge Knows is in line 3 too; keep one of the lines"},
		{&engine.KeyConflict{Entity: "edge", Type: "Knows", ID: "k1", Moved: true, From: "STORED", To: "STORED"}, `edge Knows "k1" exists between other nodes; an edge keeps its ends, so leave out the id, or delete that edge first`},
		{&engine.NotAllowed{Entity: "node", Type: "Person", ID: "STORED", Property: "p", Reason: "it has STORED"}, "you may not change the node of type Person"},
		{&engine.NotAllowed{Reason: "it needs the whole graph"}, "you may not do this: it needs the whole graph"},
		{&engine.NotFound{What: "branch", Name: "draft"}, `branch "draft" not found`},
		{&engine.LoadErrors{Lines: []engine.LineError{{Line: 3, Err: violation("unique", "STORED", "STORED")}, {Line: 4, Err: errors.New("no such member")}}, More: true},
			"line 3: node Person, property p: another entity has the same values (unique)\nline 4: no such member\n(there are more bad lines)"},
		{&engine.ConstraintViolations{Violations: []*engine.ConstraintViolation{violation("range", "STORED", "found STORED"), violation("range", "STORED2", "found STORED")}, More: true},
			"node Person, property p: stored data breaks the rule (range)\n(there are more)"},
		{fmt.Errorf("wrapped: %w", violation("unique", "STORED", "STORED")), "node Person, property p: another entity has the same values (unique)"},
	} {
		got := access.Withheld(nil, false, tt.err)
		if got.Error() != tt.want {
			t.Errorf("%v\ngot  %s\nwant %s", tt.err, got, tt.want)
		}
		before, after := wireerror.Explain(tt.err), wireerror.Explain(got)
		if before.Outcome != after.Outcome || before.Body.Code != after.Body.Code {
			t.Errorf("%v: outcome and code are %s %s, and %s %s for an actor that may read", tt.err, after.Outcome, after.Body.Code, before.Outcome, before.Body.Code)
		}
	}
	unsure := &engine.Indeterminate{Err: violation("unique", "STORED", "STORED")}
	if got := access.Withheld(nil, false, unsure); got != error(unsure) {
		t.Errorf("an unknown outcome became %v", got)
	}
}

// TestComputedWithheld checks the errors of a mutation that computes with stored values, as an actor
// without the right to read gets them. STORED stands for stored data.
func TestComputedWithheld(t *testing.T) {
	violation := func(rule, id string) error {
		return &engine.ConstraintViolation{Entity: "edge", Type: "Knows", ID: id, Property: "p", Rule: rule, Detail: "found STORED"}
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{violation("required", "STORED"), "edge Knows, property p: a value that the query computes breaks the rule (required)"},
		{violation("type", "STORED"), "edge Knows, property p: a value that the query computes breaks the rule (type)"},
		{violation("range", "STORED"), "edge Knows, property p: a value that the query computes breaks the rule (range)"},
		{violation("check", ""), "edge Knows, property p: a value that the query computes breaks the rule (check)"},
		{violation("enum", ""), "edge Knows, property p: a value that the query computes breaks the rule (enum)"},
		{violation("key", ""), "edge Knows, property p: a value that the query computes breaks the rule (key)"},
		{violation("endpoint", ""), "edge Knows, property p: the node at this end of the edge does not exist (endpoint)"},
		{violation("endpoint", "STORED"), "edge Knows, property p: the write would remove a node that an edge joins (endpoint)"},
		{violation("unique", "STORED"), "edge Knows, property p: another entity has the same values (unique)"},
		{violation("conflict", "STORED"), "edge Knows, property p: the write breaks the rule (conflict)"},
		{&engine.KeyConflict{Entity: "edge", Type: "Knows", ID: "STORED"}, "an entity with the id exists already: edge Knows"},
	} {
		got := access.Withheld(nil, true, tt.err)
		if got.Error() != tt.want {
			t.Errorf("%v\ngot  %s\nwant %s", tt.err, got, tt.want)
		}
		before, after := wireerror.Explain(tt.err), wireerror.Explain(got)
		if before.Outcome != after.Outcome || before.Body.Code != after.Body.Code {
			t.Errorf("%v: outcome and code are %s %s, and %s %s for an actor that may read", tt.err, after.Outcome, after.Body.Code, before.Outcome, before.Body.Code)
		}
	}
}
