package corpus_test

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
)

// runOptional runs the queries with `optional` blocks. Ann knows nobody, and only nova owns a sample.
func runOptional(s *session) {
	found[corpus.OptionalFriendsRow](s, "optional_friends", strings.Join([]string{
		`{"slug":"ada","friend":{"id":"nova","name":"Nova","slug":"nova","status":"active","mood":null,"age":1,"email":null,"seen":null},"status":"active","since":"2024-02-29","wide":18446744073709551614,"kind":"Person"}`,
		`{"slug":"ann","friend":null,"status":null,"since":null,"wide":null,"kind":null}`,
		`{"slug":"bob","friend":{"id":"ann","name":"Ann","slug":"ann","status":"active","mood":null,"age":2,"email":null,"seen":null},"status":"active","since":null,"wide":null,"kind":"Person"}`,
		`{"slug":"nova","friend":{"id":"bob","name":"Bob","slug":"bob","status":"on-leave","mood":"bad","age":25,"email":"bob@example.org","seen":null},"status":"on-leave","since":null,"wide":null,"kind":"Person"}`,
	}, "\n"))(corpus.OptionalFriends(s.ctx, s.g, corpus.OptionalFriendsParams{How: "school"}))
	found[corpus.OptionalCountsRow](s, "optional_counts", strings.Join([]string{
		`{"slug":"bob","friends":2,"oldest":36}`, `{"slug":"ada","friends":1,"oldest":1}`, `{"slug":"nova","friends":1,"oldest":25}`, `{"slug":"ann","friends":0,"oldest":null}`,
	}, "\n"))(corpus.OptionalCounts(s.ctx, s.g, corpus.OptionalCountsParams{}))
}

// runColumns runs the queries with distinct and collect.
func runColumns(s *session) {
	found[corpus.DistinctMoodsRow](s, "distinct_moods", `{"mood":null,"part":0.02}`+"\n"+`{"mood":null,"part":0.04}`+"\n"+`{"mood":"bad","part":0.5}`+"\n"+`{"mood":"good","part":0.72}`)(
		corpus.DistinctMoods(s.ctx, s.g, corpus.DistinctMoodsParams{}))
	found[corpus.CollectedRow](s, "collected", strings.Join([]string{
		`{"slug":"ada","statuses":1,"friends":[{"id":"nova","name":"Nova","slug":"nova","status":"active","mood":null,"age":1,"email":null,"seen":null}],"kinds":["active"],"ages":[1],"seen":[],"since":["2024-02-29"],"n":1,"twice":2}`,
		`{"slug":"ann","statuses":0,"friends":[],"kinds":[],"ages":[],"seen":[],"since":[],"n":0,"twice":0}`,
		`{"slug":"bob","statuses":2,"friends":[{"id":"ada","name":"Ada","slug":"ada","status":"on-leave","mood":"good","age":36,"email":null,"seen":"2024-06-01T12:00:00Z"},{"id":"ann","name":"Ann","slug":"ann","status":"active","mood":null,"age":2,"email":null,"seen":null}],"kinds":["on-leave","active"],"ages":[36,2],"seen":["2024-06-01T12:00:00Z"],"since":[],"n":2,"twice":4}`,
		`{"slug":"nova","statuses":1,"friends":[{"id":"bob","name":"Bob","slug":"bob","status":"on-leave","mood":"bad","age":25,"email":"bob@example.org","seen":null}],"kinds":["on-leave"],"ages":[25],"seen":[],"since":[],"n":1,"twice":2}`,
	}, "\n"))(corpus.Collected(s.ctx, s.g, corpus.CollectedParams{}))
}

// runHaving runs the query with conditions on its rows. One person knows each person.
func runHaving(s *session) {
	found[corpus.PopularRow](s, "popular", strings.Join([]string{
		`{"slug":"ada","status":"on-leave","known_by":1}`, `{"slug":"ann","status":"active","known_by":1}`,
		`{"slug":"bob","status":"on-leave","known_by":1}`, `{"slug":"nova","status":"active","known_by":1}`,
	}, "\n"))(corpus.Popular(s.ctx, s.g, corpus.PopularParams{}))
	found[corpus.PopularRow](s, "popular", `{"slug":"ada","status":"on-leave","known_by":1}`+"\n"+`{"slug":"bob","status":"on-leave","known_by":1}`)(
		corpus.Popular(s.ctx, s.g, corpus.PopularParams{Least: ptr(int32(1)), Status: ptr("on-leave")}))
}
