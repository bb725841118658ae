package model

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// periodEnd returns an example, as JSON, for parameter `index` if it is the end of the period of `valid during`. Otherwise it returns "",
// also if the start is on the last day that a Date can be. The example is one day after the start, because a call whose two times are
// equal fails.
func periodEnd(q *plan.Query, index int) string {
	if q.Read == nil || q.Read.Valid == nil {
		return ""
	}
	from := q.Read.Valid.From
	if to, ok := q.Read.Valid.To.(plan.ParamRef); !ok || to.Index != index || from == to {
		return ""
	}
	const day = 86400e6 // microseconds
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
		if end, err := value.DateFromDays(at/day + 1); err == nil {
			return jsonOf(value.OfDate(end))
		}
		return ""
	}
	if end, err := value.DateTimeFromMicros(at + day); err == nil {
		return jsonOf(value.OfDateTime(end))
	}
	return ""
}
