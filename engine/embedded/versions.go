package embedded

import (
	"slices"
	"strings"
)

// versions holds records with an id that have versions, such as proposals and drafts, after the last
// record of the log, in the order of their ids. branches.mu guards it.
type versions[T any] struct {
	sorted []versioned[T]
}

// versioned is the last version of one record of [versions]. The log record of this version may not be
// durable yet.
type versioned[T any] struct {
	id   string
	last *T       // never changed in place, because readers share it
	out  *outcome // outcome of the log record; nil if recovery restored the version

	earlier *T // the version that readers see until the log record is durable; nil for none

	// forgotten says that the log record removes the record. The caller of set drops the record once the
	// log record is durable.
	forgotten bool
}

// visible returns the version that readers see: the last one whose log record is durable. It returns
// nil if there is none.
func (v *versioned[T]) visible() *T {
	if v.out == nil {
		return v.last
	}
	select {
	case <-v.out.done:
		switch {
		case v.out.err == nil && v.forgotten:
			return nil
		case v.out.err == nil:
			return v.last
		}
	default:
	}
	return v.earlier
}

// find returns the entry with the given id, or nil. The next call that changes the list makes the entry
// invalid.
func (l *versions[T]) find(id string) *versioned[T] {
	if i, found := l.search(id); found {
		return &l.sorted[i]
	}
	return nil
}

// seen returns the version of a record that readers see, or nil if they see none.
func (l *versions[T]) seen(id string) *T {
	if v := l.find(id); v != nil {
		return v.visible()
	}
	return nil
}

// set adds a record or replaces its earlier version.
func (l *versions[T]) set(v versioned[T]) {
	i, found := l.search(v.id)
	if found {
		v.earlier = l.sorted[i].visible()
		l.sorted[i] = v
		return
	}
	l.sorted = slices.Insert(l.sorted, i, v)
}

// drop removes the records with the given ids.
func (l *versions[T]) drop(ids ...string) {
	for _, id := range ids {
		if i, found := l.search(id); found {
			l.sorted = slices.Delete(l.sorted, i, i+1)
		}
	}
}

// dropIf removes the records whose last version satisfies a condition, and returns their ids.
func (l *versions[T]) dropIf(old func(*T) bool) (ids []string) {
	l.sorted = slices.DeleteFunc(l.sorted, func(v versioned[T]) bool {
		if !old(v.last) {
			return false
		}
		ids = append(ids, v.id)
		return true
	})
	return ids
}

// kept returns the last versions, without the records that are forgotten.
func (l *versions[T]) kept() (list []*T) {
	for _, v := range l.sorted {
		if !v.forgotten {
			list = append(list, v.last)
		}
	}
	return list
}

// clone returns a copy of the list. It shares the versions with the list.
func (l *versions[T]) clone() versions[T] { return versions[T]{slices.Clone(l.sorted)} }

// latestID returns the greatest id, or an empty text if the list is empty.
func (l *versions[T]) latestID() string {
	if n := len(l.sorted); n > 0 {
		return l.sorted[n-1].id
	}
	return ""
}

// search returns the position of an id in the list, and whether the list has it.
func (l *versions[T]) search(id string) (int, bool) {
	return slices.BinarySearchFunc(l.sorted, id, func(v versioned[T], id string) int { return strings.Compare(v.id, id) })
}
