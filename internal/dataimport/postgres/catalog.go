package postgres

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/infer"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/pgtext"
)

// Inputs returns the tables with those names, or all tables that the user may read, with their types and constraints. Tables of
// the system and of extensions, views and partitions are left out.
func (d *Database) Inputs(names []string) ([]infer.Input, error) {
	var found []string
	if err := d.list(`
		SELECT n.nspname || '.' || c.relname
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
			AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
			AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend p WHERE p.classid = 'pg_class'::regclass AND p.objid = c.oid AND p.deptype = 'e')
		ORDER BY n.nspname, c.relname`, nil, func(row []string) { found = append(found, row[0]) }, 1); err != nil {
		return nil, err
	}
	if len(names) > 0 {
		for i, name := range names {
			if !slices.Contains(found, name) {
				if names[i] = "public." + name; !slices.Contains(found, names[i]) {
					return nil, fmt.Errorf("the database has no table %s that this user may read; write it with its schema, such as public.orders", name)
				}
			}
		}
		found = names
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the database has no tables that this user may read")
	}
	var inputs []infer.Input
	for _, name := range found {
		f, err := d.Table(name)
		if err != nil {
			return nil, err
		}
		c, err := d.catalog(name)
		if err != nil {
			return nil, fmt.Errorf("reading the constraints of %s: %w", name, err)
		}
		inputs = append(inputs, infer.Input{File: f, Source: name, Read: "{ table: " + dataimport.Quote(name) + " }", Catalog: c})
	}
	return inputs, nil
}

// list calls a function with each row of a query whose columns are texts.
func (d *Database) list(query string, args []any, row func([]string), columns int) error {
	rows, err := d.conn.Query(d.ctx, query, args...)
	if err != nil {
		return err
	}
	texts, to := make([]string, columns), make([]any, columns)
	for i := range texts {
		to[i] = &texts[i]
	}
	_, err = pgx.ForEachRow(rows, to, func() error { row(texts); return nil })
	return err
}

// tableOf selects a table by its name with its schema.
const tableOf = `(SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname || '.' || c.relname = $1)`

// catalog reads the types and the constraints of a table.
func (d *Database) catalog(name string) (*infer.Catalog, error) {
	c := &infer.Catalog{Columns: map[string]*infer.Declared{}}
	for _, read := range []func(*infer.Catalog, string) error{d.columns, d.uniques, d.references, d.checks} {
		if err := read(c, name); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// columns reads the types of the columns.
func (d *Database) columns(c *infer.Catalog, name string) error {
	rows, err := d.conn.Query(d.ctx, `
		SELECT a.attname::text, a.atttypid, CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END, a.attnotnull OR t.typnotnull,
			format_type(a.atttypid, a.atttypmod),
			(SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum e WHERE e.enumtypid IN (t.oid, t.typbasetype))
		FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
		WHERE a.attrelid = `+tableOf+` AND a.attnum > 0 AND NOT a.attisdropped
		ORDER BY a.attnum`, name)
	if err != nil {
		return err
	}
	var column, sql string
	var oid uint32
	var modifier int32
	var notNull bool
	var labels []string
	_, err = pgx.ForEachRow(rows, []any{&column, &oid, &modifier, &notNull, &sql, &labels}, func() error {
		declared := &infer.Declared{Type: d.typeOf(oid, modifier), SQL: sql, NotNull: notNull}
		if labels != nil {
			declared.Enum, declared.Why = slices.Clone(labels), "the enum "+sql
		}
		c.Columns[column] = declared
		return nil
	})
	return err
}

// scalars maps types of PostgreSQL to those of a schema; all others are a String.
var scalars = map[pgtext.Scalar]value.Kind{
	pgtext.Bool: value.Bool, pgtext.Integer: value.I64, pgtext.Float: value.F64, pgtext.Numeric: value.F64, pgtext.Bytes: value.Blob,
	pgtext.Date: value.Date, pgtext.Timestamp: value.DateTime, pgtext.TimestampTZ: value.DateTime, pgtext.Interval: value.Duration,
}

// typeOf returns the type of a schema for a type of PostgreSQL.
func (d *Database) typeOf(oid uint32, modifier int32) value.Type {
	scalar, isList := d.types.Scalar(oid)
	kind, ok := scalars[scalar]
	if !ok {
		kind = value.String
	}
	const header = 4 // what PostgreSQL adds to a modifier
	// A scale of 1024 or more stands for a negative one.
	if precision, scale := int(modifier-header)>>16, int(modifier-header)&0x7ff; scalar == pgtext.Numeric && modifier >= header {
		switch {
		case scale == 0 && precision <= 18:
			kind = value.I64
		case value.IsDecimal(precision, scale):
			t := value.DecimalOf(precision, scale)
			t.List = isList
			return t
		}
	}
	return value.Type{Kind: kind, List: isList}
}

// uniques reads the primary key and the other unique indexes.
func (d *Database) uniques(c *infer.Catalog, name string) error {
	rows, err := d.conn.Query(d.ctx, `
		SELECT i.indisprimary, array_agg(a.attname::text ORDER BY k.at), bool_and(a.attnotnull)
		FROM pg_catalog.pg_index i, unnest(i.indkey) WITH ORDINALITY AS k (number, at), pg_catalog.pg_attribute a
		WHERE i.indrelid = `+tableOf+` AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
			AND k.at <= i.indnkeyatts AND a.attrelid = i.indrelid AND a.attnum = k.number
		GROUP BY i.indexrelid, i.indisprimary ORDER BY i.indisprimary DESC, i.indexrelid`, name)
	if err != nil {
		return err
	}
	var isKey, complete bool
	var columns []string
	_, err = pgx.ForEachRow(rows, []any{&isKey, &columns, &complete}, func() error {
		switch list := slices.Clone(columns); {
		case isKey, complete && c.Key == nil:
			c.Key = list
		default:
			c.Unique = append(c.Unique, list)
		}
		return nil
	})
	return err
}

// references reads the foreign keys.
func (d *Database) references(c *infer.Catalog, name string) error {
	rows, err := d.conn.Query(d.ctx, `
		SELECT f.conname::text, n.nspname || '.' || o.relname,
			(SELECT array_agg(a.attname::text ORDER BY k.at) FROM unnest(f.conkey) WITH ORDINALITY AS k (number, at)
				JOIN pg_catalog.pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.number),
			(SELECT array_agg(a.attname::text ORDER BY k.at) FROM unnest(f.confkey) WITH ORDINALITY AS k (number, at)
				JOIN pg_catalog.pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.number)
		FROM pg_catalog.pg_constraint f JOIN pg_catalog.pg_class o ON o.oid = f.confrelid JOIN pg_catalog.pg_namespace n ON n.oid = o.relnamespace
		WHERE f.conrelid = `+tableOf+` AND f.contype = 'f' AND f.convalidated AND NOT o.relispartition
		ORDER BY f.conkey, f.conname`, name)
	if err != nil {
		return err
	}
	var r infer.Reference
	_, err = pgx.ForEachRow(rows, []any{&r.Name, &r.Table, &r.Columns, &r.To}, func() error {
		c.References = append(c.References, infer.Reference{Name: r.Name, Table: r.Table, Columns: slices.Clone(r.Columns), To: slices.Clone(r.To)})
		return nil
	})
	return err
}

// checks reads the CHECK constraints on single columns, of the table and of domains.
func (d *Database) checks(c *infer.Catalog, name string) error {
	return d.list(`
		SELECT a.attname::text, k.conname::text, pg_get_expr(k.conbin, k.conrelid)
		FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_attribute a ON a.attrelid = `+tableOf+`
			AND (k.conrelid = a.attrelid AND k.conkey = ARRAY[a.attnum] OR k.contypid = a.atttypid AND k.contypid <> 0)
		WHERE k.contype = 'c' AND k.convalidated AND NOT a.attisdropped
		ORDER BY a.attnum, k.conname`, []any{name}, func(row []string) {
		declared := c.Columns[row[0]]
		texts, bounds, ok := parseCheck(row[0], row[2])
		switch {
		case !ok:
		case texts != nil && declared.Type.Kind == value.String && !declared.Type.List && declared.Enum == nil:
			declared.Enum, declared.Why = texts, "the constraint "+row[1]
		case bounds != nil && declared.Range == "" && (declared.Type.Kind.IsNumeric() || declared.Type.Kind == value.Decimal) && !declared.Type.List:
			declared.Range, declared.Why = bounds.text(declared.Type), "the constraint "+row[1]
			if declared.Range == "" {
				declared.Why = ""
			}
		}
	}, 3)
}

// bounds are the bounds of a number; "" for none.
type bounds struct {
	least, most string
	above       bool // the least number itself is not allowed
	below       bool // the most number itself is not allowed
}

// text returns the bounds as a schema writes them, both inclusive; "" if they cannot be written. Bounds of floats that exclude the number itself
// become bounds that include it, which all values meet too.
func (b *bounds) text(t value.Type) string {
	least, most := b.least, b.most
	if t.Kind == value.Decimal {
		for _, end := range []string{least, most} {
			if _, err := value.ParseDecimal(end, t); end != "" && err != nil {
				return "" // the numeric has other digits than the bound
			}
		}
	}
	if t.Kind.IsInteger() {
		for _, end := range []struct {
			text *string
			off  bool
			step int64
		}{{&least, b.above, 1}, {&most, b.below, -1}} {
			if *end.text == "" {
				continue
			}
			n, err := strconv.ParseInt(*end.text, 10, 53)
			if err != nil {
				return ""
			}
			if end.off {
				n += end.step
			}
			*end.text = strconv.FormatInt(n, 10)
		}
	}
	return least + ".." + most
}
