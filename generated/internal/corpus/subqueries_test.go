package corpus_test

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
)

// runSubqueries runs the queries with subqueries. Bob knows two people, Ann nobody, and each of the others one.
func runSubqueries(s *session) {
	found[corpus.FriendTotalsRow](s, "friend_totals", strings.Join([]string{
		`{"slug":"bob","friends":2,"ages":38,"mean":19,"oldest":36,"seen":"2024-06-01T12:00:00Z","statuses":2,"people":4}`,
		`{"slug":"ada","friends":1,"ages":1,"mean":1,"oldest":1,"seen":null,"statuses":1,"people":4}`,
		`{"slug":"nova","friends":1,"ages":25,"mean":25,"oldest":25,"seen":null,"statuses":1,"people":4}`,
		`{"slug":"ann","friends":0,"ages":null,"mean":null,"oldest":null,"seen":null,"statuses":0,"people":4}`,
	}, "\n"))(corpus.FriendTotals(s.ctx, s.g, corpus.FriendTotalsParams{}))
	found[corpus.FriendListsRow](s, "friend_lists", strings.Join([]string{
		`{"slug":"ann","eldest":null,"since":null,"friends":[]}`,
		`{"slug":"bob","eldest":{"q.status":"on-leave","since":null,"q":{"id":"ada","name":"Ada","slug":"ada","status":"on-leave","mood":"good","age":36,"email":null,"seen":"2024-06-01T12:00:00Z"}},"since":null,` +
			`"friends":[{"slug":"ann","mood":null,"since":null,"friends":[]},{"slug":"ada","mood":"good","since":null,"friends":[{"slug":"nova"}]}]}`,
		`{"slug":"nova","eldest":{"q.status":"on-leave","since":null,"q":{"id":"bob","name":"Bob","slug":"bob","status":"on-leave","mood":"bad","age":25,"email":"bob@example.org","seen":null}},"since":null,` +
			`"friends":[{"slug":"bob","mood":"bad","since":null,"friends":[{"slug":"ada"},{"slug":"ann"}]}]}`,
		`{"slug":"ada","eldest":{"q.status":"active","since":"2024-02-29","q":{"id":"nova","name":"Nova","slug":"nova","status":"active","mood":null,"age":1,"email":null,"seen":null}},"since":"2024-02-29",` +
			`"friends":[{"slug":"nova","mood":null,"since":null,"friends":[{"slug":"bob"}]}]}`,
	}, "\n"))(corpus.FriendLists(s.ctx, s.g, corpus.FriendListsParams{}))
}
