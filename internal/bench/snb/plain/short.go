package plain

// short1 returns the profile of a person.
func (x *Index) short1(person int64) [][]any {
	p := x.persons[person]
	return [][]any{{p.FirstName, p.LastName, p.Birthday, p.IP, p.Browser, p.City, p.Gender, p.Created}}
}

// short2 lists the latest 10 messages of a person, each with the post that began its conversation and
// the author of that post.
func (x *Index) short2(person int64) [][]any {
	var rows [][]any
	for _, m := range x.sent[person] {
		post := x.root(m)
		author := x.persons[post.Creator]
		rows = append(rows, []any{m.ID, content(m), m.Created, Record(post.ID, author.ID, author.FirstName, author.LastName)})
	}
	return top(rows, 10, desc(2), desc(0))
}

// short3 lists the friends of a person with the beginning of the friendship.
func (x *Index) short3(person int64) [][]any {
	var rows [][]any
	for _, p := range x.direct(person) {
		rows = append(rows, []any{p.ID, p.FirstName, p.LastName, x.friends[person][p.ID]})
	}
	return top(rows, 0, desc(3), asc(0))
}

// short4 returns when a message was created, and its content.
func (x *Index) short4(message int64) [][]any {
	m := x.messages[message]
	return [][]any{{m.Created, content(m)}}
}

// short5 returns the creator of a message.
func (x *Index) short5(message int64) [][]any {
	p := x.persons[x.messages[message].Creator]
	return [][]any{{p.ID, p.FirstName, p.LastName}}
}

// short6 returns the forum of the conversation of a message, and the moderator of the forum.
func (x *Index) short6(message int64) [][]any {
	f := x.forums[x.root(x.messages[message]).Forum]
	p := x.persons[f.Moderator]
	return [][]any{{f.ID, f.Title, p.ID, p.FirstName, p.LastName}}
}

// short7 lists the comments that answer a message, and whether the author of the comment is a friend of
// the author of the message.
func (x *Index) short7(message int64) [][]any {
	var rows [][]any
	for _, c := range x.replies[message] {
		p := x.persons[c.Creator]
		_, friend := x.friends[x.messages[message].Creator][p.ID]
		rows = append(rows, []any{c.ID, c.Content, c.Created, p.ID, p.FirstName, p.LastName, friend})
	}
	return top(rows, 0, desc(2), asc(3), asc(0))
}
