package corpus_test

import (
	"reflect"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
)

// runMutations runs the mutations that name, select or repeat what they write.
func runMutations(s *session) {
	w := engine.WriteOptions{IdempotencyKey: "befriend"}
	var rows [2]corpus.BefriendRow
	for i := range rows { // the second call repeats the idempotency key
		row, change, err := corpus.Befriend(s.ctx, s.g, corpus.BefriendParams{Slug: "eve", Friend: "ada", How: corpus.KnowsHowEnumSchool}, w)
		s.wrote("befriend", 1, 1)(change, err)
		rows[i] = row
	}
	row := rows[0]
	if row.Person.Slug != "eve" || row.Person.Status != corpus.PersonStatusEnumActive || row.Age != 21 || row.How != corpus.KnowsHowEnumSchool || row.Friend != "ada" || row.Letters != 3 || len(row.Knows) != 26 {
		s.t.Errorf("befriend returns %+v", row)
	}
	if !reflect.DeepEqual(rows[0], rows[1]) {
		s.t.Errorf("a repeated call returns %+v, the first one %+v", rows[1], rows[0])
	}
	w = engine.WriteOptions{}
	s.wrote("add_people", 2, 2)(corpus.AddPeople(s.ctx, s.g, corpus.AddPeopleParams{Slugs: []string{"fay", "gus"}, Status: corpus.PersonStatusEnumGone}, w))
	s.wrote("grow", 2, 2)(corpus.Grow(s.ctx, s.g, corpus.GrowParams{Status: corpus.PersonStatusEnumGone}, w))
	s.wrote("reintroduce", 0, 1)(corpus.Reintroduce(s.ctx, s.g, corpus.ReintroduceParams{From: "eve", Tos: []string{"ada", "bob"}, How: corpus.KnowsHowEnumWork}, w))
	raw := sample().Raw
	s.wrote("set_raw", 1, 0)(corpus.SetRaw(s.ctx, s.g, corpus.SetRawParams{Text: sample().Text, Raw: &raw}, w))
}
