// Package record reads files of several formats as records with positions. A record is a row of a
// table or a JSON object; its values have one form for all formats:
//
//	file → decompressed → decoded text (text formats) → records
//
// The memory of a reader depends on its longest record, not on the length of the file.
package record

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the form of a value in a file.
type Kind uint8

// The forms of values.
const (
	Null    Kind = iota // no value
	Text                // a text, from which any type can be converted
	Number              // a decimal literal
	Bool                // true or false
	Date                // a calendar day
	Local               // a day and a time of day without a zone
	Instant             // a point in time
	Span                // a length of time
	Bytes               // bytes
	List                // a list of values
	Object              // a JSON object
)

// String returns the form as messages name it.
func (k Kind) String() string {
	return [...]string{"no value", "a text", "a number", "true or false", "a date", "a time without a zone", "a time", "a duration", "bytes", "a list", "an object"}[k]
}

// Value is a value of a record. It is valid until the next record is read.
type Value struct {
	Kind  Kind
	Raw   []byte        // of Text, Bytes, Number (the literal) and Object (JSON)
	Bool  bool          // of Bool
	Time  time.Time     // of Date, Local (both in UTC) and Instant
	Span  time.Duration // of Span
	Elems []Value       // of List
}

// OfText returns a text value.
func OfText(s string) Value { return Value{Kind: Text, Raw: []byte(s)} }

// AppendText appends the value as a person would write it; for messages, comparisons and keys of rejected records.
func (v *Value) AppendText(dst []byte) []byte {
	switch v.Kind {
	case Text, Number, Object:
		return append(dst, v.Raw...)
	case Bool:
		return strconv.AppendBool(dst, v.Bool)
	case Date:
		return v.Time.AppendFormat(dst, time.DateOnly)
	case Local:
		return v.Time.AppendFormat(dst, "2006-01-02T15:04:05.999999999")
	case Instant:
		return v.Time.AppendFormat(dst, time.RFC3339Nano)
	case Span:
		return append(dst, v.Span.String()...)
	case Bytes:
		return base64.StdEncoding.AppendEncode(dst, v.Raw)
	case List:
		return v.AppendJSON(dst)
	}
	return dst
}

// String returns the text of [Value.AppendText].
func (v *Value) String() string { return string(v.AppendText(nil)) }

// AppendJSON appends the value as JSON.
func (v *Value) AppendJSON(dst []byte) []byte {
	switch v.Kind {
	case Null:
		return append(dst, "null"...)
	case Number, Object, Bool:
		return v.AppendText(dst)
	case List:
		dst = append(dst, '[')
		for i := range v.Elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.Elems[i].AppendJSON(dst)
		}
		return append(dst, ']')
	}
	return AppendQuoted(dst, v.AppendText(nil))
}

// AppendQuoted appends a text as a JSON string. It replaces what is not UTF-8.
func AppendQuoted(dst, text []byte) []byte {
	out, _ := jsontext.AppendQuote(dst, text) // the error reports the replacement of bad bytes
	return out
}

// Record is one record. It is valid until the next one is read.
type Record struct {
	Line   int64   // line of a text file at which the record begins, from 1; 0 in other files
	Row    int64   // number of the record in the file, from 1
	Values []Value // by selected column
	// Key returns the primary key of the row of a database, such as id=17; nil if there is none.
	Key func() string
}

// Fault returns a fault of the record, which is in a file.
func (r *Record) Fault(file string, err error) *Fault {
	f := &Fault{File: file, Line: r.Line, Row: r.Row, Err: err}
	if r.Key != nil {
		f.Key = r.Key()
	}
	return f
}

// Reader reads the records of one file.
type Reader interface {
	// Columns returns the names of the columns, or nil if each record has its own.
	Columns() []string
	// Select says which columns the records will have. Call it once, before Next. The names must be among Columns, unless
	// Columns is nil.
	Select(columns []string)
	// Next returns the next record. The error is io.EOF after the last one, or a *Fault. After a Fault that is not Final, Next
	// can be called again.
	Next() (*Record, error)
	Close() error
}

// Fault says what is wrong at a place of a file.
type Fault struct {
	File   string // name of the file
	Line   int64  // line of a text file, from 1; 0 if the file has no lines
	Row    int64  // number of the record, from 1; 0 if the fault is in no record
	Key    string // primary key of the row of a database, such as id=17; "" for none
	Column string // name of the column; "" if the fault is in no column
	Value  string // the value at fault; "" if there is none
	Err    error  // what is wrong, and how to mend it
	Final  bool   // the rest of the file cannot be read
}

// Error returns the place, the value and the fault on one line.
func (f *Fault) Error() string {
	var b bytes.Buffer
	b.WriteString(f.Place())
	if f.Column != "" {
		fmt.Fprintf(&b, ", column %s", f.Column)
	}
	if f.Value != "" {
		fmt.Fprintf(&b, ", value %s", strconv.Quote(clip(f.Value)))
	}
	return b.String() + ": " + f.Err.Error()
}

// Place returns the file and the place of the record in it.
func (f *Fault) Place() string {
	switch {
	case f.Key != "":
		return fmt.Sprintf("%s, row %s", f.File, clip(f.Key))
	case f.Line > 0:
		return fmt.Sprintf("%s, line %d", f.File, f.Line)
	case f.Row > 0:
		return fmt.Sprintf("%s, row %d", f.File, f.Row)
	}
	return f.File
}

// Unwrap returns the reason.
func (f *Fault) Unwrap() error { return f.Err }

// clip bounds the length of a value that a message repeats.
func clip(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// UnknownColumn is the error for a column that a file does not have.
type UnknownColumn struct {
	Name    string
	Columns []string // the columns that the file has
}

// Error names the columns that exist.
func (e *UnknownColumn) Error() string {
	return fmt.Sprintf("the file has no column %s; its columns are %s", e.Name, joined(e.Columns))
}

// joined lists names, at most twenty.
func joined(names []string) string {
	var b bytes.Buffer
	for i, n := range names {
		if i == 20 {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(clip(n))
	}
	return b.String()
}

// positions returns the place of each selected column among the columns of a table, -1 for none.
func positions(columns, selected []string) []int {
	at := make([]int, len(selected))
	for i, name := range selected {
		at[i] = slices.Index(columns, name)
	}
	return at
}

// checkColumns checks the names of the columns of a table.
func checkColumns(names []string) error {
	seen := map[string]int{}
	for i, n := range names {
		if first, twice := seen[n]; twice && n != "" {
			return fmt.Errorf("the columns %d and %d are both called %s; give them names with columns: [...] and header: true under read", first+1, i+1, n)
		}
		seen[n] = i
	}
	if len(names) == 0 {
		return errors.New("the file has no columns")
	}
	return nil
}
