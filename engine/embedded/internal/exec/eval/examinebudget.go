package eval

import "github.com/omnigraph-go/omnigraph/engine"

// maxExamined is the number of nodes and edges that one run may examine, unless Options.Examined is set. It bounds
// runs without a deadline: the fastest counts examine that many in about half a minute, and other reads need longer.
const maxExamined = 1 << 33

// examineBudget counts the nodes and edges that the steps of a run examine, each time that a step examines one. The
// counts are approximate.
type examineBudget struct {
	Total        int64 // examined so far
	MostExamined int64 // maximum that the run may examine
}

// ExaminedResource names the resource that examineBudget bounds.
const ExaminedResource = "nodes and edges that one query examines"

// Examine adds n to the number of nodes and edges that the run has examined. The error is a *engine.TooLarge without a
// hint; see exec.matcher.inStep.
func (b *examineBudget) Examine(n int64) error {
	if b.Total += n; b.Total > b.MostExamined {
		return &engine.TooLarge{Resource: ExaminedResource, Limit: b.MostExamined, Actual: b.Total}
	}
	return nil
}

// countVisited adds n to the number of entities that the subqueries of the run have visited. The run
// fails if the number exceeds the limit. The number n is rough: it may include rows examined before the subquery began.
func (ev *Evaluator) countVisited(n int) {
	if ev.visited += int64(n); ev.visited > ev.MaxVisited {
		ev.Fail(&engine.TooLarge{Resource: "entities that the subqueries of one query examine, at last " + ev.Visiting.Name, Limit: ev.MaxVisited, Actual: ev.visited,
			Hint: "add conditions to the match or to the block, or a limit to the query"})
	}
}
