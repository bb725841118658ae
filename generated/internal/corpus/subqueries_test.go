package corpus_test

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
)

// runSubqueries runs the queries with subqueries. Bob knows two people, Ann nobody, and each of the others one.
func runSubqueries(s *session) {
	at := engine.Target{}
	found[corpus.FriendTotalsRow](s, "friend_totals", strings.Join([]string{
		`x`,
	}, "\n"))(corpus.FriendTotals(s.ctx, s.g, corpus.FriendTotalsParams{}, at))
	found[corpus.FriendListsRow](s, "friend_lists", strings.Join([]string{
		`x`,
	}, "\n"))(corpus.FriendLists(s.ctx, s.g, corpus.FriendListsParams{}, at))
}
