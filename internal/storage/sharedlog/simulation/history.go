package simulation

import (
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// history records the operations of the clients and the answers to them.
type history struct {
	tokens int    // number of tokens drawn
	done   []done // the operations with their outcomes
}

// done is an operation with its outcome.
type done struct {
	op
	outcome  outcome       // how the operation ended
	list     []int         // what a read returned
	returned time.Duration // when the client got the answer; forever if it got none
}

// add adds an operation.
func (h *history) add(o op, result outcome, list []int, returned time.Duration) {
	h.done = append(h.done, done{op: o, outcome: result, list: list, returned: returned})
}

// checkLimit is how long the check of one history may take.
const checkLimit = time.Minute

// model specifies the effect of each write and latest read, one after the other. Its state is one
// list.
var model = porcupine.Model{
	Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
		parts := make([][]porcupine.Operation, len(keys))
		for _, o := range all {
			i := slices.Index(keys, o.Input.(op).key)
			parts[i] = append(parts[i], o)
		}
		return parts
	},
	Init: func() any { return []int(nil) },
	Step: func(state, input, output any) (bool, any) {
		list, o, result := state.([]int), input.(op), output.(done)
		if o.kind == latest {
			return slices.Equal(list, result.list), list
		}
		holds := o.expect < 0 || o.expect == len(list)
		switch result.outcome {
		case outcomeOK:
			return holds, append(slices.Clip(list), o.token)
		case outcomeFailed:
			return !holds, list
		}
		// The client got no answer, but a read shows the token.
		return holds, append(slices.Clip(list), o.token)
	},
	Equal: func(a, b any) bool { return slices.Equal(a.([]int), b.([]int)) },
}

// check returns the first promise that the history breaks, or "".
func (h *history) check() string {
	final := map[string][]int{}
	seen := map[int]time.Duration{} // for each token, when the first latest read that shows it returned
	for _, d := range h.done {
		if d.kind != latest {
			continue
		}
		if len(d.list) >= len(final[d.key]) {
			final[d.key] = d.list
		}
		for _, token := range d.list {
			if at, ok := seen[token]; !ok || d.returned < at {
				seen[token] = d.returned
			}
		}
	}
	var operations []porcupine.Operation
	for _, d := range h.done {
		if d.outcome == outcomeUnknown {
			// The client got no answer to this write. The check would take very long if such a
			// write could happen at any time. But lists only grow, and every list was read at the
			// end of the run. So a write that no read shows had not happened by then, and any other
			// write happened before the first read that shows it.
			at, ok := seen[d.token]
			if !ok {
				continue
			}
			d.returned = max(at, d.called)
		}
		if d.kind == write || d.kind == latest {
			operations = append(operations, porcupine.Operation{Input: d.op, Call: int64(d.called), Output: d, Return: int64(d.returned)})
		}
	}
	for _, d := range h.done {
		if d.kind == latest || d.kind == write {
			continue
		}
		if d.kind == atLeast && (d.outcome != outcomeOK || !slices.Contains(d.list, d.token)) {
			return fmt.Sprintf("a read at least as new as token %d of list %s returned %v (outcome %d)", d.token, d.key, d.list, d.outcome)
		}
		if all := final[d.key]; len(d.list) > len(all) || !slices.Equal(d.list, all[:len(d.list)]) {
			return fmt.Sprintf("a read of list %s returned %v, which is not a past state of %v", d.key, d.list, all)
		}
	}
	switch porcupine.CheckOperationsTimeout(model, operations, checkLimit) {
	case porcupine.Illegal:
		return "the writes and latest reads are not linearizable"
	case porcupine.Unknown:
		return fmt.Sprintf("the check of the history took longer than %v", checkLimit)
	}
	return ""
}
