package model

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// periodEnd returns an example for the parameter with an index, as JSON, if the parameter is the end of the period of `valid during`: a day after the
// start in an example call, since a call with two equal times fails. Otherwise it returns "".
func periodEnd(q *plan.Query, index int) string {
	if q.Read == nil || q.Read.Valid == nil {
		return ""
	}
	from := q.Read.Valid.From
	if to, ok := q.Read.Valid.To.(plan.ParamRef); !ok || to.Index != index || from == to {
		return ""
	}
	const day = 86400e6
	last, _ := value.ParseDate("9999-12-31")
	at := plan.Instant(value.OfDate(last)) - day // later than now()
	switch from := from.(type) {
	case plan.Lit:
		at = plan.Instant(from.Value)
	case plan.ParamRef:
		switch p := q.Params[from.Index]; {
		case len(p.Examples) > 0:
			at = plan.Instant(p.Examples[0])
		case !p.Default.IsNull():
			at = plan.Instant(p.Default)
		default:
			start, _ := value.ParseDateTime(strings.Trim(value.DateTime.Example(), `"`)) // an example of a Date is of the same day
			at = int64(start)
		}
	}
	if q.Params[index].Type.Kind == value.Date {
		return jsonOf(value.OfDate(value.DateValue(at/day + 1)))
	}
	return jsonOf(value.OfDateTime(value.DateTimeValue(at + day)))
}
