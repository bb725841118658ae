package naive

import (
	"math"
	"math/big"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// aggregates maps each aggregate to the function that evaluates it. The argument `vals` holds the
// values of a group without nulls. If there are none, only the function of count is called; the
// result of any other aggregate is then null. The argument `rows` is the number of `vals`, unless
// the model has a fault.
var aggregates = map[plan.AggFunc]func(ev *evaluation, vals []value.Value, rows int) value.Value{
	plan.Count: func(_ *evaluation, _ []value.Value, rows int) value.Value { return value.OfI64(int64(rows)) },
	plan.Sum: func(ev *evaluation, vals []value.Value, _ int) value.Value {
		if vals[0].Kind() == value.Decimal {
			sum, undefined := vals[0], false
			for _, v := range vals[1:] {
				if sum, undefined = exactly(plan.Add, sum, v); undefined {
					ev.err = errDigits
					return value.Null
				}
			}
			return sum
		}
		return value.OfF64(ev.sum(vals))
	},
	plan.Avg: func(ev *evaluation, vals []value.Value, rows int) value.Value {
		if vals[0].Kind() == value.Decimal {
			sum := new(big.Rat)
			for _, v := range vals {
				sum.Add(sum, exact(v))
			}
			mean, _ := sum.Quo(sum, big.NewRat(int64(rows), 1)).Float64()
			return value.OfF64(mean)
		}
		return value.OfF64(ev.sum(vals) / float64(rows))
	},
	plan.Min: func(ev *evaluation, vals []value.Value, _ int) value.Value {
		if ev.g.fault == MinIsFirst {
			return vals[0]
		}
		return slices.MinFunc(vals, order)
	},
	plan.Max: func(_ *evaluation, vals []value.Value, _ int) value.Value { return slices.MaxFunc(vals, order) },

	plan.Median: func(_ *evaluation, vals []value.Value, _ int) value.Value {
		sorted := slices.SortedFunc(slices.Values(vals), order)
		return value.OfF64(mean(sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]))
	},
}

// errDigits is the error of a sum or an operator whose result is no Decimal.
var errDigits = &engine.TooLarge{Resource: "digits of a Decimal", Limit: value.MaxDigits, Actual: value.MaxDigits + 1}

// aggregate applies an aggregate to the rows of a group. The count of a whole entity counts
// the rows that bind it; every other aggregate skips nulls.
func (ev *evaluation) aggregate(a plan.Agg, members [][]*entity) value.Value {
	if w, whole := a.Arg.(plan.Whole); whole && a.Func == plan.Count && (!a.Distinct || ev.g.fault == DistinctIgnored) {
		n := 0
		for _, m := range members {
			if m[w.Var] != nothing || ev.g.fault == UnmatchedCounted {
				n++
			}
		}
		return value.OfI64(int64(n))
	}
	if of, nodes := a.CollectedNodes(); nodes { // only its size is of interest
		var ids []value.Value
		for _, m := range ev.collectedNodes(of, a.Distinct, members) {
			ev.env = m
			_, id := plan.NodeOf(ev.nodeValue(of))
			ids = append(ids, value.OfString(id))
		}
		return value.OfList(value.String, ids)
	}
	if a.Func == plan.Collect {
		members = ev.inTieOrder(members)
	}
	arg := a.Arg
	if w, whole := arg.(plan.Whole); whole {
		arg = plan.ID(w)
	}
	var vals []value.Value
	for _, m := range members {
		ev.env = m
		v := ev.eval(arg)
		if w, whole := a.Arg.(plan.Whole); whole && a.Func == plan.Count && !v.IsNull() {
			v = value.OfList(value.String, ev.tie(w.Var, m)) // identifies a node of an interface, too
		}
		if v.IsNull() || a.Distinct && ev.g.fault != DistinctIgnored && slices.ContainsFunc(vals, func(o value.Value) bool { return same(o, v) }) {
			continue
		}
		vals = append(vals, v)
	}
	if a.Func == plan.Collect {
		ev.checkCollected(len(vals))
		return value.OfList(ev.kindOf(arg), vals)
	}
	if len(vals) == 0 && a.Func != plan.Count {
		return value.Null
	}
	rows := len(vals)
	if ev.g.fault == CountsNulls && a.Func == plan.Count || ev.g.fault == AverageOverNulls {
		rows = len(members)
	}
	return aggregates[a.Func](ev, vals, rows)
}

// sum adds the values. It rounds only the result, unless the graph has the fault SumRounds.
func (ev *evaluation) sum(vals []value.Value) float64 {
	if ev.g.fault != SumRounds {
		return exactSum(vals)
	}
	sum := 0.0
	for _, v := range vals {
		sum += toFloat(v)
	}
	return sum
}

// exactSum returns the sum of numbers, rounded only once at the end. So the sum does not depend on
// the order of the rows.
func exactSum(vals []value.Value) float64 {
	const bits = 2200 // bits between the highest and the lowest bit of any float64
	sum := new(big.Float).SetPrec(bits)
	for _, v := range vals {
		n := new(big.Float).SetPrec(bits)
		switch {
		case v.Kind().IsFloat():
			n.SetFloat64(v.Float())
		case v.Kind() == value.U64:
			n.SetUint64(v.Uint())
		default:
			n.SetInt64(v.Int())
		}
		sum.Add(sum, n)
	}
	rounded, _ := sum.Float64()
	return rounded
}

// mean returns the mean of two numbers, rounded only once, at the end. It is NaN if one of them is
// NaN, or if they are opposite infinities.
func mean(a, b value.Value) float64 {
	if x, y := toFloat(a), toFloat(b); math.IsNaN(x+y) || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return x + y
	}
	sum := new(big.Rat).Add(exact(a), exact(b))
	middle, _ := sum.Quo(sum, big.NewRat(2, 1)).Float64()
	return middle
}

// exact returns a finite number without rounding it.
func exact(v value.Value) *big.Rat {
	switch {
	case v.Kind().IsFloat():
		return new(big.Rat).SetFloat64(v.Float())
	case v.Kind() == value.U64:
		return new(big.Rat).SetInt(new(big.Int).SetUint64(v.Uint()))
	}
	if v.Kind() == value.Decimal {
		r, _ := new(big.Rat).SetString(value.Text(v))
		return r
	}
	return big.NewRat(v.Int(), 1)
}
