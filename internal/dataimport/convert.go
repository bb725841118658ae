package dataimport

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// Converter converts the values of a column to the type of a property.
type Converter struct {
	typ    value.Type
	column *Column
	number *numberFormat  // nil for the notation of JSON
	zone   *time.Location // nil if the map has none
	round  time.Duration  // unit of times; 0 to round nothing
	enum   map[string]bool

	bounds   []value.Bounds   // rules of the property
	patterns []*value.Pattern // rules of the property
}

// NewConverter checks the options of a column for a type.
func NewConverter(t value.Type, c *Column) (*Converter, error) {
	k := &Converter{typ: t, column: c}
	kind := t.Kind
	for _, o := range []struct {
		key string
		set bool
		fit bool
	}{
		{"date", c.Date != "", kind == value.Date}, {"time", c.Time != "", kind == value.DateTime}, {"zone", c.Zone != "", kind == value.DateTime},
		{"number", c.Number != "", kind.IsNumeric() || kind == value.Vector || kind == value.Decimal}, {"true", c.True != nil, kind == value.Bool}, {"false", c.False != nil, kind == value.Bool},
		{"list", c.List != "", t.List || kind == value.Vector}, {"bytes", c.Bytes != "", kind == value.Blob}, {"unit", c.Unit != "", kind == value.Duration}, {"trim", c.Trim, kind == value.String},
		{"round: integer", c.Round == "integer", kind.IsInteger()}, {"round: " + c.Round, c.Round != "" && c.Round != "integer", kind == value.DateTime},
	} {
		if o.set && !o.fit {
			return nil, fmt.Errorf("%s does not apply to the type %s", o.key, t)
		}
	}
	if c.Number != "" {
		f, err := parseNumberFormat(c.Number)
		if err != nil {
			return nil, err
		}
		k.number = &f
	}
	if c.Zone != "" {
		zone, err := time.LoadLocation(c.Zone)
		if err != nil || c.Zone == "Local" {
			return nil, fmt.Errorf("the zone %q is unknown; write a name such as UTC or Europe/Amsterdam", c.Zone)
		}
		k.zone = zone
	}
	if err := checkLayout("date", c.Date); err != nil {
		return nil, err
	}
	if _, unix := unixUnits[c.Time]; !unix && c.Time != "rfc3339" {
		if err := checkLayout("time", c.Time); err != nil {
			return nil, err
		}
	}
	k.round = map[string]time.Duration{"second": time.Second, "millisecond": time.Millisecond, "microsecond": time.Microsecond}[c.Round]
	for _, e := range t.Enum {
		if k.enum == nil {
			k.enum = map[string]bool{}
		}
		k.enum[e] = true
	}
	if (c.True == nil) != (c.False == nil) {
		return nil, errors.New("true and false belong together; write both")
	}
	return k, nil
}

// checkLayout checks that a layout writes a whole day.
func checkLayout(key, layout string) error {
	if layout == "" {
		return nil
	}
	day := time.Date(2019, 11, 23, 0, 0, 0, 0, time.UTC)
	back, err := time.Parse(layout, day.Format(layout))
	if y, m, d := back.Date(); err != nil || y != 2019 || m != 11 || d != 23 {
		return fmt.Errorf("%s is %q, which has no day, month and year; write the day 2006-01-02 as the source writes it, such as %q", key, layout, "02/01/2006")
	}
	return nil
}

// Convert converts a value. The result may alias the record. Null needs no rule of its own: a required property is checked by
// the caller.
func (k *Converter) Convert(v *record.Value) (value.Value, error) {
	if v.Kind == record.Null || len(k.column.Null) > 0 && k.isNull(v) {
		return value.Null, nil
	}
	if v.Kind == record.Text && len(v.Raw) == 0 && (k.typ.Kind != value.String || k.typ.List) {
		return value.Null, nil // no other type has an empty text
	}
	var out value.Value
	var err error
	switch {
	case k.typ.List:
		out, err = k.list(v)
	case k.typ.Kind == value.Vector:
		out, err = k.vector(v)
	default:
		out, err = k.scalar(v)
	}
	if err != nil {
		return value.Null, err
	}
	return out, k.rules(out)
}

// rules checks the rules of the property.
func (k *Converter) rules(v value.Value) error {
	if k.enum != nil && !v.IsList() && !k.enum[v.Str()] {
		return fmt.Errorf("expected one of %s", strings.Join(k.typ.Enum, ", "))
	}
	for _, b := range k.bounds {
		if err := b.Check(v); err != nil {
			return err
		}
	}
	for _, p := range k.patterns {
		if err := p.Check(v); err != nil {
			return err
		}
	}
	return nil
}

// isNull reports whether the map says that a text stands for null.
func (k *Converter) isNull(v *record.Value) bool {
	if v.Kind == record.Text {
		return slices.Contains(k.column.Null, text(v.Raw))
	}
	return slices.Contains(k.column.Null, v.String())
}

// text returns bytes as a string that is valid as long as they are.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// mismatch returns the error for a value of a form that does not convert.
func (k *Converter) mismatch(v *record.Value) error {
	return fmt.Errorf("found %s, expected %s", v.Kind, k.typ.Kind)
}

// scalar converts a value that is not null.
func (k *Converter) scalar(v *record.Value) (value.Value, error) {
	kind := k.typ.Kind
	switch {
	case kind == value.String:
		switch v.Kind {
		case record.Text, record.Number:
			s := text(v.Raw)
			if k.column.Trim {
				s = strings.TrimSpace(s)
			}
			return value.OfString(s), nil
		}
	case kind == value.Bool:
		return k.boolean(v)
	case kind.IsNumeric() || kind == value.Decimal:
		if v.Kind == record.Text || v.Kind == record.Number {
			return k.numeric(v)
		}
	case kind == value.Date:
		return k.date(v)
	case kind == value.DateTime:
		return k.dateTime(v)
	case kind == value.Duration:
		if v.Kind == record.Span {
			return value.OfBits(kind, uint64(v.Span)), nil
		}
		if k.column.Unit != "" && (v.Kind == record.Text || v.Kind == record.Number) {
			return k.duration(trimBlanks(text(v.Raw)))
		}
		if v.Kind == record.Text {
			return kind.Parse(trimBlanks(text(v.Raw)))
		}
		if v.Kind == record.Number {
			return value.Null, errors.New("the map does not say in which unit the number is; add unit: ms, or another one of " + joined(units))
		}
	case kind == value.Blob:
		return k.blob(v)
	}
	return value.Null, k.mismatch(v)
}

// duration converts a number of units to a Duration.
func (k *Converter) duration(s string) (value.Value, error) {
	d, ok := parseDecimal(s)
	if !ok {
		return value.Null, errors.New("expected a number")
	}
	r, _ := new(big.Rat).SetString(d.String())
	one, err := time.ParseDuration("1" + k.column.Unit)
	if err != nil {
		return value.Null, err
	}
	r.Mul(r, new(big.Rat).SetInt64(int64(one)))
	if !r.IsInt() {
		return value.Null, errors.New("the duration has digits below the nanosecond, which a Duration does not keep")
	}
	if !r.Num().IsInt64() {
		return value.Null, errors.New("the duration is out of range")
	}
	return value.OfBits(value.Duration, uint64(r.Num().Int64())), nil
}

// boolean converts to a Bool.
func (k *Converter) boolean(v *record.Value) (value.Value, error) {
	if v.Kind == record.Bool {
		return value.OfBool(v.Bool), nil
	}
	if v.Kind != record.Text && v.Kind != record.Number {
		return value.Null, k.mismatch(v)
	}
	s := trimBlanks(text(v.Raw))
	if k.column.True != nil {
		switch {
		case slices.Contains(k.column.True, s):
			return value.OfBool(true), nil
		case slices.Contains(k.column.False, s):
			return value.OfBool(false), nil
		}
		return value.Null, errors.New("the text is neither in true nor in false of the map")
	}
	switch {
	case strings.EqualFold(s, "true"):
		return value.OfBool(true), nil
	case strings.EqualFold(s, "false"):
		return value.OfBool(false), nil
	}
	return value.Null, errors.New("expected true or false; write in the map which texts stand for them, such as true: [t, yes] and false: [f, no]")
}

// numeric converts a text or a number to a number.
func (k *Converter) numeric(v *record.Value) (value.Value, error) {
	s := trimBlanks(text(v.Raw))
	if v.Kind == record.Text && k.number != nil {
		plain, err := k.number.plain(s)
		if err != nil {
			return value.Null, err
		}
		s = plain
	}
	kind := k.typ.Kind
	if out, ok := value.ParseNumber(s, kind); ok && kind.IsInteger() {
		return out, nil
	}
	d, ok := parseDecimal(s)
	if !ok {
		if v.Kind == record.Text && k.number == nil {
			return value.Null, twoReadings(s)
		}
		return value.Null, errors.New("expected a number")
	}
	if kind == value.Decimal {
		return value.ParseDecimal(d.String(), k.typ)
	}
	if kind.IsFloat() {
		size := 64
		if kind == value.F32 {
			size = 32
		}
		f, err := strconv.ParseFloat(s, size)
		switch {
		case err != nil || math.IsInf(f, 0):
			return value.Null, fmt.Errorf("the number is out of range of %s", kind)
		case kind == value.F32:
			return value.OfF32(float32(f)), nil
		}
		return value.OfF64(f), nil
	}
	digits, err := d.integer(k.column.Round == "integer")
	if err != nil {
		return value.Null, err
	}
	out, ok := value.ParseNumber(digits, kind)
	if !ok {
		return value.Null, fmt.Errorf("the number is out of range of %s", kind)
	}
	return out, nil
}

// date converts to a Date.
func (k *Converter) date(v *record.Value) (value.Value, error) {
	t := v.Time
	switch v.Kind {
	case record.Date:
	case record.Local:
		if err := midnight(t); err != nil {
			return value.Null, err
		}
	case record.Text, record.Number:
		if v.Kind == record.Number && k.column.Date == "" {
			return value.Null, k.mismatch(v)
		}
		var err error
		if t, err = parseDay(trimBlanks(text(v.Raw)), k.column.Date); err != nil {
			return value.Null, err
		}
	default:
		return value.Null, k.mismatch(v)
	}
	d, err := value.DateFromDays(floorDays(t))
	if err != nil {
		return value.Null, err
	}
	return value.OfDate(d), nil
}

// floorDays returns the days since 1970 of a time in UTC.
func floorDays(t time.Time) int64 {
	s := t.Unix()
	days := s / 86400
	if s%86400 < 0 {
		days--
	}
	return days
}

var (
	errTooFine = errors.New("the time has digits that a DateTime does not keep; write round: microsecond in the map to round it")
	belowNanos = regexp.MustCompile(`[.,]\d{9}\d*[1-9]`) // digits that package time drops
)

// dateTime converts to a DateTime.
func (k *Converter) dateTime(v *record.Value) (value.Value, error) {
	t := v.Time
	var err error
	switch v.Kind {
	case record.Instant:
	case record.Local:
		t, err = inZone(t, k.zone)
	case record.Text, record.Number:
		s := trimBlanks(text(v.Raw))
		unit, unix := unixUnits[k.column.Time]
		switch {
		case unix:
			t, err = parseUnix(s, unit)
		case v.Kind == record.Number && k.column.Time == "":
			err = unclearUnix(s)
		default:
			t, err = parseTime(s, k.column.Time, k.zone)
		}
	default:
		err = k.mismatch(v)
	}
	if err != nil {
		return value.Null, err
	}
	if k.round > 0 {
		t = t.Round(k.round)
	} else if v.Kind == record.Text && belowNanos.Match(v.Raw) {
		return value.Null, errTooFine
	}
	out, err := value.DateTimeFrom(t.UTC())
	if errors.Is(err, value.ErrTooFine) {
		return value.Null, errTooFine
	}
	if err != nil {
		return value.Null, err
	}
	return value.OfDateTime(out), nil
}

// unclearUnix returns the error for a number where a time is expected. It shows how the number could be read.
func unclearUnix(s string) error {
	var ways []string
	for _, layout := range []string{"unix", "unix_ms", "unix_us"} {
		if t, err := parseUnix(s, unixUnits[layout]); err == nil && t.Year() >= 1 && t.Year() <= 9999 {
			ways = append(ways, fmt.Sprintf("%s with time: %s", t.Format("2006-01-02T15:04:05Z"), layout))
		}
	}
	return fmt.Errorf("a number could be several times; say which in the map: %s", strings.Join(ways, ", or "))
}

// blob converts to a Blob.
func (k *Converter) blob(v *record.Value) (value.Value, error) {
	if v.Kind == record.Bytes {
		return value.OfBlob(v.Raw), nil
	}
	if v.Kind != record.Text {
		return value.Null, k.mismatch(v)
	}
	switch k.column.Bytes {
	case "base64":
		b, err := base64.StdEncoding.DecodeString(text(v.Raw))
		if err != nil {
			return value.Null, errors.New("the text is not base64 with padding")
		}
		return value.OfBlob(b), nil
	case "hex":
		b, err := hex.DecodeString(strings.TrimPrefix(strings.TrimPrefix(text(v.Raw), `\x`), "0x"))
		if err != nil {
			return value.Null, errors.New("the text is not hexadecimal")
		}
		return value.OfBlob(b), nil
	}
	return value.Null, errors.New("the map does not say how the text writes bytes; add bytes: base64 or bytes: hex")
}

// maxElements is the maximum number of elements of a list that a text holds. An element takes much more memory than its text.
const maxElements = 1 << 20

// elements returns the elements of a list, which a text may hold.
func (k *Converter) elements(v *record.Value) ([]record.Value, error) {
	switch {
	case v.Kind == record.List:
		return v.Elems, nil
	case v.Kind != record.Text:
		return nil, fmt.Errorf("found %s, expected a list", v.Kind)
	case k.column.List == "":
		return nil, errors.New("found a text, expected a list; write in the map what is between the elements, such as list: \";\", or list: json")
	case k.column.List == "json":
		return record.ParseList(v.Raw, maxElements)
	}
	n := strings.Count(text(v.Raw), k.column.List) + 1
	if n > maxElements {
		return nil, fmt.Errorf("found a list of %d elements, expected at most %d", n, maxElements)
	}
	out := make([]record.Value, 0, n)
	for part := range strings.SplitSeq(string(v.Raw), k.column.List) {
		out = append(out, record.OfText(part))
	}
	return out, nil
}

// list converts to a list.
func (k *Converter) list(v *record.Value) (value.Value, error) {
	elems, err := k.elements(v)
	if err != nil {
		return value.Null, err
	}
	one := *k
	one.typ, one.bounds, one.patterns = k.typ.Elem(), nil, nil
	out := make([]value.Value, 0, len(elems))
	for i := range elems {
		e, err := one.Convert(&elems[i])
		if err == nil && e.IsNull() {
			err = errors.New("a list cannot hold null")
		}
		if err != nil {
			return value.Null, fmt.Errorf("element %d: %w", i+1, err)
		}
		out = append(out, e)
	}
	return value.OfList(k.typ.Kind, out), nil
}

// vector converts to a Vector.
func (k *Converter) vector(v *record.Value) (value.Value, error) {
	elems, err := k.elements(v)
	if err != nil {
		return value.Null, err
	}
	if len(elems) != k.typ.Dim {
		return value.Null, fmt.Errorf("found %d numbers, expected %d", len(elems), k.typ.Dim)
	}
	one := *k
	one.typ = value.Of(value.F32)
	out := make([]float32, 0, len(elems))
	for i := range elems {
		e, err := one.scalar(&elems[i])
		if err != nil {
			return value.Null, fmt.Errorf("element %d: %w", i+1, err)
		}
		out = append(out, float32(e.Float()))
	}
	return value.OfVector(out), nil
}

// appendValue appends a value in the notation of a load.
func appendValue(dst []byte, v value.Value) []byte {
	switch {
	case v.IsNull():
		return append(dst, "null"...)
	case v.IsList():
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, e)
		}
		return append(dst, ']')
	case v.Kind() == value.Vector:
		dst = append(dst, '[')
		for i, f := range v.Vector() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = value.AppendFloat(dst, float64(f), 32)
		}
		return append(dst, ']')
	case v.Kind() == value.String:
		return quote(dst, v.Str())
	case v.Kind().JSON() == value.JSONText:
		dst = append(dst, '"')
		return append(value.AppendText(dst, v), '"')
	}
	return value.AppendText(dst, v)
}

// quote appends a text as a JSON string. The text must be UTF-8.
func quote(dst []byte, s string) []byte {
	plain := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

// JSON returns a value in the notation of a load.
func JSON(v value.Value) []byte { return appendValue(nil, v) }

// Plain reports whether the values of a column need no option to be read.
func Plain(c Column) bool { return c.Date == "" && c.Time == "" && c.Number == "" }
