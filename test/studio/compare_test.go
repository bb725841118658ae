package studio

import (
	"fmt"
	"testing"
)

// TestCompare compares two branches that part more commits ago than the page asks for at first.
func TestCompare(t *testing.T) {
	needBrowser(t)
	s := reviewSite(t)
	id := s.propose(t, "try/prices", "Correct <b>a</b> price", "", `update Item set { price: 5400 } where slug = "desk-lamp"`)
	for i := range 60 {
		s.mutate(t, "act-dev", "main", fmt.Sprintf(`update Item set { price: %d } where slug = "night-light"`, 2000+i))
	}
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/shop/history?compare=try%2Fprices")
	b.wantText("The newest 50 commits of the two branches have none in common.", "Open a proposal from main into try/prices")
	b.accessible()
	b.click(`a[href*="commits=200"]`)
	b.shows("The branches part at the commit")
	b.settle()
	if got := eval[string](b, "location.search"); got != "?compare=try%2Fprices&commits=200" {
		t.Errorf("the link leads to %s", got)
	}
	for name, want := range map[string]int{"Only on main": 60, "Only on try/prices": 1} {
		if n := eval[int](b, fmt.Sprintf("document.querySelectorAll('[aria-label=%q] tbody tr').length", name)); n != want {
			t.Errorf("%s: %d commits, want %d", name, n, want)
		}
	}
	b.looks("compare")

	// From the other side, the common commit is among the newest of that branch alone.
	b.open(s, "/studio/shop/history?branch=try%2Fprices&compare=main&commits=200")
	if n := eval[int](b, "document.querySelectorAll('[aria-label=\"Only on main\"] tbody tr').length"); n != 60 {
		t.Errorf("from the other side %d commits are only on main, want 60", n)
	}
	b.wantText("The changes from try/prices into main: the open proposal Correct <b>a</b> price")
	b.click(`main li a[href*="` + id + `"]`)
	b.shows("5400")
	b.quiet()
}
