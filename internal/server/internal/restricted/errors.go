package restricted

import (
	"errors"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// withoutNames returns the error of a write without the names of hidden types and properties.
func withoutNames(err error, r *engine.Rights) error {
	if err == nil || !hidesNames(r) {
		return err
	}
	var load *engine.LoadErrors
	if errors.As(err, &load) {
		short := *load
		short.Lines = nil
		for _, line := range load.Lines {
			if seen := withoutName(line.Err, r); seen != line.Err {
				line.Err, line.Field = seen, ""
			}
			short.Lines = append(short.Lines, line)
		}
		return &short
	}
	return withoutName(err, r)
}

// withoutName returns an error about one entity without the name of a hidden type or property.
func withoutName(err error, r *engine.Rights) error {
	var denied *engine.NotAllowed
	var broken *engine.ConstraintViolation
	switch {
	case errors.As(err, &denied):
		t := typeIn(r, denied.Entity, denied.Type)
		switch {
		case t != nil && t.None:
			return &engine.NotAllowed{Reason: "it would change something that you may not see"}
		case denied.Property != "" && t.Hides(denied.Property):
			short := *denied
			short.Property, short.Reason = "", "it has a property that you may not see"
			return &short
		}
	case errors.As(err, &broken):
		t := typeIn(r, broken.Entity, broken.Type)
		if t != nil && t.None || slices.ContainsFunc(strings.Split(broken.Property, ", "), t.Hides) {
			return &engine.NotAllowed{Reason: "it would break a rule about something that you may not see"}
		}
	}
	return err
}

// typeIn returns the rights on a type, or nil if they do not restrict it.
func typeIn(r *engine.Rights, entity, name string) *engine.TypeRights {
	if entity == plan.Edge.String() {
		return r.Edges[name]
	}
	return r.Nodes[name]
}
