package evaluation

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
)

// The goals of the catalogs that Omnigraph ships, in percent.
const (
	FoundGoal    = 95.0 // questions that find their tools
	RepairedGoal = 98.0 // broken calls that one repair corrects
)

// maxCalls is the number of calls after which the repairer gives up.
const maxCalls = 5

// Server answers calls as a client of the graph sees the answers.
type Server interface {
	// Reset brings the graph back to the state before all calls, and returns what example calls need
	// to know about it.
	Reset(ctx context.Context) (*State, error)

	// Call calls a tool. If the tool answers with an error, the fault is the text of the error.
	Call(ctx context.Context, tool string, args json.RawMessage) (answer []byte, fault string, err error)
}

// Input is a catalog to evaluate.
type Input struct {
	Graph        string
	Tools        []Tool // as tools/list has them
	Unlisted     []Tool // stored queries that two tools of the list find and run; only their questions are tried
	ListBytes    int    // of the answer to tools/list
	ReadingBytes int    // of the tools of the set read, and of the instructions, for an agent that reads
	Instructions string // for the model
	Server       Server
	Seed         uint64 // decides how calls are broken
}

// Report is the result of an evaluation.
type Report struct {
	Graph    string   `json:"graph"`
	Seed     uint64   `json:"seed"`
	Tools    int      `json:"tools"` // number of tools in tools/list
	Tokens   Tokens   `json:"tokens"`
	Typical  *Typical `json:"-"` // the answers to typical calls; nil if they were not measured. Then the report has nothing else
	Found    Found    `json:"found"`
	Confused []Pair   `json:"confused"`
	Repair   Repair   `json:"repair"`
	Empty    []string `json:"empty,omitempty"` // the types of the graph without made-up nodes or edges, because the schema refuses them
	Untried  []NoCall `json:"untried"`         // the tools without an example call that succeeds
}

// Tokens estimates sizes, at four bytes a token.
type Tokens struct {
	List         int    `json:"list"`         // the answer to tools/list
	Instructions int    `json:"instructions"` // the instructions of the server
	Reading      int    `json:"reading"`      // the tools of the set read, and the instructions, for an agent that reads
	Answer       int    `json:"answer"`       // the median answer of an example call
	LargestAt    string `json:"largest_at"`   // the tool with the largest answer
	Largest      int    `json:"largest"`      // that answer
}

// Typical is the sizes of the answers to typical calls, at four bytes a token.
type Typical struct {
	Tokens  int             `json:"tokens"` // all together
	Answers []TypicalAnswer `json:"answers"`
}

// TypicalAnswer is the size of one answer.
type TypicalAnswer struct {
	Tool   string `json:"tool"`
	Tokens int    `json:"tokens"`
}

// Add adds the answer to a call.
func (t *Typical) Add(tool string, answer []byte) {
	n := lint.Tokens(len(answer))
	t.Answers = append(t.Answers, TypicalAnswer{tool, n})
	t.Tokens += n
}

// Repair counts calls until success.
type Repair struct {
	Broken int          `json:"broken"` // number of broken calls
	One    int          `json:"one"`    // how many of them one repair corrected, or the server took as they were
	Calls  float64      `json:"calls"`  // mean number of calls until success, of those that succeeded
	Ways   []WayResult  `json:"ways"`   // by the way of breaking
	Failed []Unrepaired `json:"failed"` // the calls that took more than one repair
}

// WayResult is the part of a [Repair] for one way of breaking a call.
type WayResult struct {
	Way    string `json:"way"`
	Does   string `json:"does"`
	Broken int    `json:"broken"`
	One    int    `json:"one"`
}

// Unrepaired is a broken call that one repair did not correct.
type Unrepaired struct {
	Tool  string `json:"tool"`
	Way   string `json:"way"`
	Call  string `json:"call"`  // the broken call
	Fault string `json:"fault"` // the text of its error
	Calls int    `json:"calls"` // calls until success; 0 if there was none
}

// NoCall is a tool whose calls are not broken.
type NoCall struct {
	Tool   string `json:"tool"`
	Reason string `json:"reason"`
}

// Evaluate measures a catalog.
func Evaluate(ctx context.Context, in Input) (*Report, error) {
	r := &Report{Graph: in.Graph, Seed: in.Seed, Tools: len(in.Tools), Untried: []NoCall{}}
	r.Tokens.List, r.Tokens.Instructions = lint.Tokens(in.ListBytes), lint.Tokens(len(in.Instructions))
	r.Tokens.Reading = lint.Tokens(in.ReadingBytes)
	r.Found, r.Confused = find(slices.Concat(in.Tools, in.Unlisted))
	e := &evaluator{Input: in, report: r, readOnly: map[string]bool{}, isTool: map[string]bool{}}
	for _, t := range in.Tools {
		e.readOnly[t.Name], e.isTool[t.Name] = t.ReadOnly, true
	}
	for i := range ways {
		r.Repair.Ways = append(r.Repair.Ways, WayResult{Way: ways[i].name, Does: ways[i].does})
	}
	r.Repair.Failed = []Unrepaired{}
	e.dirty = true
	for i := range in.Tools {
		if err := e.tool(ctx, &in.Tools[i]); err != nil {
			return nil, fmt.Errorf("evaluate the tool %s: %w", in.Tools[i].Name, err)
		}
	}
	if e.succeeded > 0 {
		r.Repair.Calls = float64(int(float64(e.calls)/float64(e.succeeded)*100+0.5)) / 100
	}
	if slices.Sort(e.answers); len(e.answers) > 0 {
		r.Tokens.Answer = e.answers[len(e.answers)/2]
	}
	return r, nil
}

// evaluator carries out the calls of an evaluation.
type evaluator struct {
	Input
	report   *Report
	readOnly map[string]bool // by tool
	isTool   map[string]bool // the names of the tools
	state    *State          // of the graph since the last reset
	dirty    bool            // a call has changed the graph since the last reset
	answers  []int           // tokens of the answers of example calls

	calls, succeeded int // of the broken calls that succeeded: all calls, and their number
}

// tool makes the example call of a tool, and then breaks it in each way.
func (e *evaluator) tool(ctx context.Context, t *Tool) error {
	s, err := parseSchema(t.InputSchema)
	if err != nil {
		return err
	}
	ex, err := e.example(ctx, t, s)
	if err != nil {
		return err
	}
	if ex == nil {
		e.report.Untried = append(e.report.Untried, NoCall{t.Name, "there is no example call for it"})
		return nil
	}
	answer, fault, err := e.call(ctx, call{t.Name, ex.Args})
	if err != nil {
		return err
	}
	if fault != "" {
		e.report.Untried = append(e.report.Untried, NoCall{t.Name, "the example call fails, " + encoded(ex.Args) + ": " + message(fault)})
		return nil
	}
	tokens := lint.Tokens(len(answer))
	e.answers = append(e.answers, tokens)
	if tokens > e.report.Tokens.Largest {
		e.report.Tokens.Largest, e.report.Tokens.LargestAt = tokens, t.Name
	}
	for i := range ways {
		// A reset makes commits with new ids, so every trial has its own example.
		if ex, err = e.example(ctx, t, s); err != nil {
			return err
		}
		right := call{t.Name, ex.Args}
		broken, ok := ways[i].broken(e.Seed, right, ex, s, func(name string) bool { return e.isTool[name] })
		if !ok {
			continue
		}
		if err := e.trial(ctx, i, s, right, broken); err != nil {
			return err
		}
	}
	return nil
}

// example returns the example call of a tool in the present state of the graph, or nil.
func (e *evaluator) example(ctx context.Context, t *Tool, s *schema) (*Example, error) {
	if e.dirty {
		var err error
		if e.state, err = e.Server.Reset(ctx); err != nil {
			return nil, err
		}
		e.dirty = false
	}
	if t.Stored {
		return storedExample(s), nil
	}
	return e.state.builtinExample(t.Name), nil
}

// call carries out a call.
func (e *evaluator) call(ctx context.Context, c call) (answer []byte, fault string, err error) {
	answer, fault, err = e.Server.Call(ctx, c.Tool, json.RawMessage(encoded(c.Args)))
	if fault == "" && !e.readOnly[c.Tool] {
		if args, ok := c.Args.(object); !ok || args["dry_run"] != true {
			e.dirty = true
		}
	}
	return answer, fault, err
}

// trial makes a broken call, and corrects it until it succeeds or the repairer has no more advice.
func (e *evaluator) trial(ctx context.Context, way int, s *schema, right, broken call) error {
	repair, result := &e.report.Repair, &e.report.Repair.Ways[way]
	repair.Broken++
	result.Broken++
	text := ids.ReplaceAllString(encoded(broken), "…")
	first, now := "", broken
	for n := 1; n <= maxCalls; n++ {
		_, fault, err := e.call(ctx, now)
		if err != nil {
			return err
		}
		if fault == "" {
			if !same(right, now, ways[way].free) {
				break // the server took the call for another one
			}
			e.calls += n
			e.succeeded++
			if n <= 2 {
				repair.One++
				result.One++
				return nil
			}
			repair.Failed = append(repair.Failed, Unrepaired{right.Tool, result.Way, text, message(first), n})
			return nil
		}
		if n == 1 {
			first = fault
		}
		next, ok := repaired(now, message(fault), s, right)
		if !ok {
			break
		}
		now = next
	}
	if first == "" {
		first = "no error, although it differs from the right call"
	}
	repair.Failed = append(repair.Failed, Unrepaired{right.Tool, result.Way, text, message(first), 0})
	return nil
}

// ids matches the ids of commits and proposals, which differ from run to run.
var ids = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{26}\b`)

// message returns the message of an error that is a JSON object with one, and any other text as it is.
func message(fault string) string {
	var body struct {
		Message string `json:"error"`
	}
	if json.Unmarshal([]byte(fault), &body) == nil && body.Message != "" {
		fault = body.Message
	}
	return ids.ReplaceAllString(fault, "…")
}

// same reports whether a call is the right one. With free, only its keys must be the right ones. An object may
// be sent as its text, which servers read as the object.
func same(right, c call, free bool) bool {
	if right.Tool != c.Tool {
		return false
	}
	if free {
		return sameKeys(right.Args, c.Args)
	}
	// Encoding makes numbers equal that differ in their Go types only.
	var a, b any
	_ = json.Unmarshal([]byte(encoded(right.Args)), &a)
	_ = json.Unmarshal([]byte(encoded(c.Args)), &b)
	return reflect.DeepEqual(a, unquoted(b, a)) || reflect.DeepEqual(a, nested(b, a))
}

// nested returns arguments with the parameters at the top moved into the member params, as a server reads them, where the arguments
// `like` have the member.
func nested(v, like any) any {
	given, ok := v.(object)
	wanted, isCall := like.(object)
	params, has := wanted["params"].(object)
	if !ok || !isCall || !has || given["params"] != nil {
		return v
	}
	moved, inner := object{}, object{}
	for name, value := range given {
		if _, isParam := params[name]; isParam {
			inner[name] = value
		} else {
			moved[name] = value
		}
	}
	moved["params"] = inner
	return moved
}

// unquoted returns a value with each text replaced by the object that it holds, where the value `like` has an
// object.
func unquoted(v, like any) any {
	wanted, ok := like.(object)
	if !ok {
		return v
	}
	if text, ok := v.(string); ok {
		var o object
		if json.Unmarshal([]byte(text), &o) != nil {
			return v
		}
		v = o
	}
	if o, ok := v.(object); ok {
		for key := range o {
			o[key] = unquoted(o[key], wanted[key])
		}
	}
	return v
}

// sameKeys reports whether two values are objects with the same keys at every depth, or no objects.
func sameKeys(a, b any) bool {
	x, first := a.(object)
	y, second := b.(object)
	if !first || !second {
		return first == second
	}
	return maps.EqualFunc(x, y, sameKeys)
}
