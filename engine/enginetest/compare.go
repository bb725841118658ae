package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/naive"
)

// reason is the part of an error that the comparison looks at.
type reason struct {
	kind     string // Go type of the error
	rule     string // rule of a violation
	property string // property of a violation whose rule is about one property
	line     int64  // line of a load, 0 if none
}

func (r reason) String() string {
	text := strings.TrimSpace(strings.Join([]string{r.kind, r.rule, r.property}, " "))
	if r.line > 0 {
		text = fmt.Sprintf("line %d: %s", r.line, text)
	}
	return text
}

// reasonOf classifies a single error. It does not accept a list of errors.
func reasonOf(err error) reason {
	var violation *engine.ConstraintViolation
	var key *engine.KeyConflict
	var argument *engine.BadArgument
	var own engine.Error
	switch {
	case errors.As(err, &argument):
		// The arguments of drawn statements fit their parameters. If one does not fit the property,
		// the error may blame the argument or the property.
		return reason{kind: "violation", rule: "type"}
	case errors.As(err, &violation):
		r := reason{kind: "violation", rule: violation.Rule}
		switch violation.Rule {
		case "required", "enum", "range", "check":
			r.property = violation.Property
		}
		return r
	case errors.As(err, &key):
		return reason{kind: "key conflict"}
	case errors.As(err, &own):
		return reason{kind: fmt.Sprintf("%T", own)}
	}
	return reason{kind: fmt.Sprintf("%T", err)}
}

// reasons classifies an error. For a load it returns one reason per bad line.
func reasons(err error) []reason {
	var list []reason
	var failure *naive.Failure
	var lines *engine.LoadErrors
	var broken *engine.ConstraintViolations
	switch {
	case errors.As(err, &failure):
		for _, e := range failure.Errs {
			r := reasonOf(e)
			var line *engine.LineError
			if errors.As(e, &line) {
				r.line = line.Line
			}
			list = append(list, r)
		}
	case errors.As(err, &lines):
		for _, l := range lines.Lines {
			r := reasonOf(l.Err)
			r.line = l.Line
			list = append(list, r)
		}
	case errors.As(err, &broken):
		for _, v := range broken.Violations {
			list = append(list, reasonOf(v))
		}
	default:
		list = []reason{reasonOf(err)}
	}
	return list
}

// compareErrors compares the outcome of a write in an engine with the outcome in the model. It
// describes the difference, or returns "". The model reports every reason, while an engine may stop
// at the first. In a load, the engine must report every line that is bad regardless of other lines.
func compareErrors(model, got error) string {
	switch {
	case model == nil && got == nil:
		return ""
	case model == nil:
		return fmt.Sprintf("the engine fails, but the model does not: %v (%T)", got, got)
	case got == nil:
		return fmt.Sprintf("the model fails, but the engine does not: %v", model)
	}
	if difference := compareClosed(model, got); difference != "" {
		return difference
	}
	want := reasons(model)
	have := reasons(got)
	for _, r := range have {
		if !slices.ContainsFunc(want, func(w reason) bool { return sameReason(w, r) }) {
			return fmt.Sprintf("the engine fails for another reason than the model (%v): %v\nmodel: %v", r, got, model)
		}
	}
	var failure *naive.Failure
	if errors.As(model, &failure) {
		for _, w := range want[:failure.Certain] {
			if !slices.ContainsFunc(have, func(h reason) bool { return h.line == w.line }) {
				return fmt.Sprintf("the engine does not report line %d: %v\nmodel: %v", w.line, got, model)
			}
		}
	}
	return ""
}

// sameReason compares reasons. An engine may report a bad line of a load with any type of error, so
// only the line numbers are compared.
func sameReason(model, got reason) bool {
	if model.line > 0 && got.line > 0 {
		return model.line == got.line
	}
	got.line = model.line
	return model == got
}

// compareEffects returns the difference between the numbers of changes of a write by kind, or "". It does not compare
// the changes that a dry run shows.
func compareEffects(want, got *engine.WriteEffects) string {
	numbers := func(e *engine.WriteEffects) string { return fmt.Sprint(e.Nodes, e.Edges, e.Replaced) }
	if w, g := numbers(want), numbers(got); w != g {
		return fmt.Sprintf("the engine inserts, updates and deletes nodes and edges, and replaces nodes: %s, the model: %s", g, w)
	}
	return ""
}

// flatten returns the errors that err joins, or err alone.
func flatten(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}
