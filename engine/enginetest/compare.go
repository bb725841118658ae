package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/enginetest/naive"
)

// reason is what is compared of an error.
type reason struct {
	kind     string // the error's Go type
	rule     string // of a violation
	property string // of a violation of a rule about one property
	line     int64  // of a load, 0 for none
}

func (r reason) String() string {
	text := strings.TrimSpace(strings.Join([]string{r.kind, r.rule, r.property}, " "))
	if r.line > 0 {
		text = fmt.Sprintf("line %d: %s", r.line, text)
	}
	return text
}

// reasonOf classifies an error that is no list.
func reasonOf(err error) reason {
	var violation *engine.ConstraintViolation
	var key *engine.KeyConflict
	var argument *engine.BadArgument
	var own engine.Error
	switch {
	case errors.As(err, &argument):
		// Arguments of drawn statements fit their parameters. One that does not fit the
		// property may be called the argument's fault or the property's.
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

// reasons classifies an error; the lines of a load one by one.
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

// compareErrors says how the outcome of an engine's write differs from the model's;
// empty if it does not. The model reports every reason, the engine may stop at its
// first; of a load it has to report every line that is bad by itself.
func compareErrors(model, got error) string {
	switch {
	case model == nil && got == nil:
		return ""
	case model == nil:
		return fmt.Sprintf("the engine fails and the model does not: %v (%T)", got, got)
	case got == nil:
		return fmt.Sprintf("the engine does not fail and the model does: %v", model)
	}
	want := reasons(model)
	have := reasons(got)
	for _, r := range have {
		if !slices.ContainsFunc(want, func(w reason) bool { return sameReason(w, r) }) {
			return fmt.Sprintf("the engine fails with another reason (%v): %v\nmodel: %v", r, got, model)
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

// sameReason compares reasons. What is wrong with a line of a load has no one type:
// only the lines are compared.
func sameReason(model, got reason) bool {
	if model.line > 0 && got.line > 0 {
		return model.line == got.line
	}
	got.line = model.line
	return model == got
}
