package instead

import "github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"

// maxConstructs bounds the constructs that Constructs names.
const maxConstructs = 5

// construct is a construct of this language for words of other languages.
type construct struct {
	forms []string
	use   string
}

// constructs lists the constructs in the order in which Constructs names them.
var constructs = []construct{
	{[]string{"unwind $", "unnest ( $", "in $ insert", "in $ create", "in $ merge", "jsonb_to_recordset ("},
		"for $row in $rows { insert … } with $rows: [{ name: String }] runs once for each element"},
	{[]string{"int", "integer", "float", "boolean", "list <"}, "the types of parameters are String, Bool, I32, I64, F64, Date, DateTime, and lists such as [String]"},
	{[]string{"in $", "any ( $", "for $"}, "$p.name in $names keeps the rows whose value is in a list"},
	{[]string{"returning", "objects", "input", "insert into"}, "$n = insert Person { … } return { $n.name as name } returns what was inserted"},
	{[]string{"optional match", "optional {", "left join", "left outer"}, "optional { … } keeps a row although the block has no match"},
	{[]string{"not exists", "not in", "none", "where not", "and not", "is empty"}, "not { … } keeps the rows for which the block has no match"},
	{[]string{"exists", "some", "any ("}, "exists { … } keeps the rows for which the block has a match"},
	{[]string{"or", "any ("}, "any { … } keeps a row for which one of its conditions holds"},
	{[]string{"having", "filter", "next"}, "having { n > 3 } after return { …, count($q) as n } filters groups"},
	{[]string{"count (", "sum (", "avg (", "min (", "max (", "group by", "aggregate", "count"},
		"a column such as count($q) as n groups by the other columns; count { … } in a column counts the matches of a block"},
	{[]string{"collect (", "array_agg (", "string_agg (", "json_agg (", "collect {", "lateral"},
		"collect($q.name) lists values; collect { … return { $q.name as name } order { name } limit 10 } lists records"},
	{[]string{"case when", "case"}, "if(condition, a, b) chooses a value"},
	{[]string{"select distinct", "return distinct", "distinct"}, "return distinct { … } drops equal rows; count(distinct …) counts different values"},
	{[]string{"like", "ilike", "starts with", "ends with", "contains", "=~", "regexp"}, `$p.name contains "a", starts_with "a" and matches "^a.*z$" compare texts`},
	{[]string{"duration", "duration (", "interval", "datetime (", "current_date", "current_timestamp", "now ("},
		`now() - days(7) is a moment and date(now()) a day; days_between(a, b) and seconds_between(a, b) measure; date("2024-01-31") is a literal`},
	{[]string{"date_trunc (", "extract (", "date_part (", "to_char ("}, "year($p.born), month($p.born) and day($p.born) take a date apart"},
	{[]string{"order by", "orderby", "order_by", "sort", "limit", "first", "take"}, "order { n desc } limit 10 comes after return { … }"},
}

// Constructs names constructs of this language for words of other languages in a text, at most five.
func Constructs(source string) []string {
	tokens, ok := lex.TokensOf(source)
	if !ok {
		return nil
	}
	var out []string
	for _, c := range constructs {
		for i := range tokens {
			if len(out) < maxConstructs && beginsOne(tokens[i:], c.forms) {
				out = append(out, c.use)
				break
			}
		}
	}
	return out
}
