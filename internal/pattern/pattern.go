// Package pattern compiles the regular expressions that queries match texts with. It bounds their size,
// because the patterns come from callers, and the time of a match grows with the size of the pattern.
package pattern

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

const (
	maxBytes    = 1000 // maximum length of a pattern's text
	maxElements = 1000 // of characters, classes and operators, after repetitions are written out
	// quickWork is the largest product of a text's bytes and a pattern's elements for which a match
	// does not check whether the call has ended. Such a match takes milliseconds.
	quickWork = 1 << 20
	// pauseWork is the product of characters and elements between two checks whether the call has
	// ended.
	pauseWork = 1 << 16
)

// Pattern is a compiled regular expression in RE2 syntax. It matches any part of a text.
type Pattern struct {
	re   *regexp.Regexp
	size int // number of elements
}

// Compile compiles a pattern. The error names the position of the fault.
func Compile(text string) (*Pattern, error) {
	if len(text) > maxBytes {
		return nil, fmt.Errorf("the pattern has %d bytes, and at most %d are allowed", len(text), maxBytes)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, positioned(text, err)
	}
	size := elements(tree)
	if size > maxElements {
		return nil, fmt.Errorf("the pattern has %d elements when its repetitions are written out, and at most %d are allowed", size, maxElements)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, positioned(text, err)
	}
	return &Pattern{re: re, size: size}, nil
}

// Size returns the number of elements of the pattern. The time of a match is at most proportional
// to this number times the length of the text.
func (p *Pattern) Size() int { return p.size }

// Match reports whether a part of the text matches the pattern. During a long match it calls `stop`
// from time to time; once `stop` returns true, Match returns false. The argument `stop` may be nil.
func (p *Pattern) Match(text string, stop func() bool) bool {
	if stop == nil || len(text)*p.size <= quickWork {
		return p.re.MatchString(text)
	}
	r := &stoppable{r: strings.NewReader(text), every: max(1, pauseWork/p.size), stop: stop}
	return p.re.MatchReader(r) && !r.stopped
}

// stoppable reads the text of a match. It ends early once `stop` returns true.
type stoppable struct {
	r       *strings.Reader
	every   int         // number of characters between two calls of `stop`
	read    int         // number of characters since the last call of `stop`
	stop    func() bool // reports whether to end early
	stopped bool        // `stop` has returned true
}

// ReadRune implements [io.RuneReader].
func (s *stoppable) ReadRune() (rune, int, error) {
	if s.read++; s.read >= s.every {
		s.read = 0
		s.stopped = s.stopped || s.stop()
	}
	if s.stopped {
		return 0, 0, io.EOF
	}
	return s.r.ReadRune()
}

// elements counts the elements of a pattern after its repetitions are written out.
func elements(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = max(1, len(re.Rune))
	}
	for _, sub := range re.Sub {
		n += elements(sub)
	}
	if re.Op == syntax.OpRepeat {
		return n * max(1, re.Min, re.Max)
	}
	return n
}

// positioned rewords an error of the package regexp/syntax and adds the position of the fault: the
// number of its first character, counted from 1.
func positioned(text string, err error) error {
	var fault *syntax.Error
	if !errors.As(err, &fault) {
		return err
	}
	at, part := len(text), fault.Expr
	switch {
	case fault.Code == syntax.ErrUnexpectedParen:
		at, part = unopened(text), ")"
	case part != text:
		at = offset(text, fault)
	}
	where := fmt.Sprintf("at character %d", utf8.RuneCountInString(text[:at])+1)
	if at == len(text) {
		where = "at its end"
	}
	return fmt.Errorf("the pattern is not valid %s: %s: `%s`", where, fault.Code, part)
}

// unopened returns the byte offset of the first closing parenthesis that has no opening one. The
// package regexp/syntax reports such a fault without its position.
func unopened(text string) int {
	for i := range len(text) {
		var f *syntax.Error
		if text[i] != ')' {
			continue
		}
		if _, err := syntax.Parse(text[:i+1], syntax.Perl); errors.As(err, &f) && f.Code == syntax.ErrUnexpectedParen {
			return i
		}
	}
	return len(text)
}

// offset returns the byte offset of the faulty part of a pattern. The same characters may also
// occur earlier, without a fault. So offset looks for the first occurrence for which the pattern,
// cut off after the occurrence, has the same fault.
func offset(text string, fault *syntax.Error) int {
	for from := 0; from <= len(text); {
		i := strings.Index(text[from:], fault.Expr)
		if i < 0 {
			break
		}
		at := from + i
		var f *syntax.Error
		if _, err := syntax.Parse(text[:at+len(fault.Expr)], syntax.Perl); errors.As(err, &f) && *f == *fault {
			return at
		}
		from = at + 1
	}
	return max(0, strings.LastIndex(text, fault.Expr))
}
