package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestThen composes two carries, and compares the result with the expected carry.
func TestThen(t *testing.T) {
	a := &Carry{Nodes: []TypeCarry{{1, []int{2, -1, 0}}, {-1, []int{-1}}, {0, nil}}, Edges: []TypeCarry{{0, []int{0}}}}
	b := &Carry{Nodes: []TypeCarry{{2, []int{-1}}, {0, []int{2, 1, -1, 0}}, {1, []int{0}}, {-1, []int{-1}}}, Edges: []TypeCarry{{-1, nil}}}
	want := &Carry{Nodes: []TypeCarry{{0, []int{-1}}, {1, []int{0, -1, -1, 2}}, {-1, []int{-1}}, {-1, []int{-1}}}, Edges: []TypeCarry{{-1, []int{}}}}
	if diff := cmp.Diff(want, a.compose(b)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
