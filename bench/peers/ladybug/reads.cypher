// The reads of the Social Network Benchmark and the counts of LSQB for LadybugDB, each after a line with the name of the
// stored query. The parameters are p1, p2 and so on, with times in milliseconds.

//: ic1
MATCH (p:Person {id: $p1})-[e:Knows* SHORTEST 1..3]-(f:Person) WHERE f.firstName = $p2 AND f.id <> $p1
WITH f, length(e) AS distance ORDER BY distance, f.lastName, f.id LIMIT 20
MATCH (f)-[:LivesIn]->(city:City)
OPTIONAL MATCH (f)-[s:StudyAt]->(u:University)-[:UniversityIn]->(c:City)
WITH f, distance, city, collect(CASE WHEN u.id IS NULL THEN NULL ELSE u.name + '|' + string(s.classYear) + '|' + c.name END) AS studies
OPTIONAL MATCH (f)-[j:WorkAt]->(o:Company)-[:CompanyIn]->(c:Country)
WITH f, distance, city, studies, collect(CASE WHEN o.id IS NULL THEN NULL ELSE o.name + '|' + string(j.workFrom) + '|' + c.name END) AS jobs
RETURN f.id, f.lastName, distance, f.birthday - date('1970-01-01'), f.creationDate, f.gender, f.browserUsed,
  f.locationIP, f.emails, f.speaks, city.name, studies, jobs
ORDER BY distance, f.lastName, f.id

//: ic2
MATCH (:Person {id: $p1})-[:Knows]-(f:Person)<-[:HasCreator]-(m:Message) WHERE m.creationDate <= $p2
RETURN f.id, f.firstName, f.lastName, m.id, m.content, m.creationDate ORDER BY m.creationDate DESC, m.id LIMIT 20

//: ic3
MATCH (p:Person {id: $p1})-[:Knows*1..2]-(f:Person) WHERE f.id <> $p1
WITH DISTINCT f
MATCH (f)-[:LivesIn]->(:City)-[:CityOf]->(home:Country) WHERE home.name <> $p2 AND home.name <> $p3
MATCH (f)<-[:HasCreator]-(m:Message)-[:SentFrom]->(c:Country)
WHERE (c.name = $p2 OR c.name = $p3) AND m.creationDate >= $p4 AND m.creationDate < $p4 + $p5 * 86400000
WITH f, CAST(sum(CASE WHEN c.name = $p2 THEN 1 ELSE 0 END) AS INT64) AS x, CAST(sum(CASE WHEN c.name = $p3 THEN 1 ELSE 0 END) AS INT64) AS y
WHERE x > 0 AND y > 0
RETURN f.id, f.firstName, f.lastName, x, y, x + y AS n ORDER BY n DESC, f.id LIMIT 20

//: ic4
MATCH (:Person {id: $p1})-[:Knows]-(f:Person)<-[:HasCreator]-(m:Message)-[:HasTag]->(t:Tag)
WHERE m.post AND m.creationDate < $p2 + $p3 * 86400000
WITH t, count(*) AS n, min(m.creationDate) AS earliest WHERE earliest >= $p2
RETURN t.name, n ORDER BY n DESC, t.name LIMIT 10

//: ic5
MATCH (p:Person {id: $p1})-[:Knows*1..2]-(f:Person) WHERE f.id <> $p1
WITH DISTINCT f
MATCH (f)<-[j:HasMember]-(g:Forum) WHERE j.joinDate > $p2
OPTIONAL MATCH (g)-[:ContainerOf]->(m:Message)-[:HasCreator]->(f)
WITH g, count(m.id) AS n
RETURN g.title, n, g.id ORDER BY n DESC, g.id LIMIT 20

//: ic6
MATCH (p:Person {id: $p1})-[:Knows*1..2]-(f:Person) WHERE f.id <> $p1
WITH DISTINCT f
MATCH (t:Tag)<-[:HasTag]-(m:Message)-[:HasCreator]->(f) WHERE t.name = $p2 AND m.post
MATCH (m)-[:HasTag]->(o:Tag) WHERE o.id <> t.id
RETURN o.name AS name, count(*) AS n ORDER BY n DESC, name LIMIT 10

//: ic7
MATCH (p:Person {id: $p1})<-[:HasCreator]-(m:Message)<-[l:Likes]-(k:Person)
WITH p, k, max(l.creationDate) AS at
MATCH (p)<-[:HasCreator]-(m:Message)<-[l:Likes]-(k) WHERE l.creationDate = at
WITH p, k, at, min(m.id) AS first
MATCH (m:Message) WHERE m.id = first
RETURN k.id, k.firstName, k.lastName, at, m.id, m.content, CAST(floor((at - m.creationDate) / 60000.0) AS INT64),
  NOT EXISTS { MATCH (p)-[:Knows]-(k) }
ORDER BY at DESC, k.id LIMIT 20

//: ic8
MATCH (:Person {id: $p1})<-[:HasCreator]-(m:Message)<-[:ReplyOf]-(c:Message)-[:HasCreator]->(a:Person)
RETURN a.id, a.firstName, a.lastName, c.creationDate, c.id, c.content ORDER BY c.creationDate DESC, c.id LIMIT 20

//: ic9
MATCH (p:Person {id: $p1})-[:Knows*1..2]-(f:Person) WHERE f.id <> $p1
WITH DISTINCT f
MATCH (f)<-[:HasCreator]-(m:Message) WHERE m.creationDate < $p2
RETURN f.id, f.firstName, f.lastName, m.id, m.content, m.creationDate ORDER BY m.creationDate DESC, m.id LIMIT 20

//: ic10
MATCH (p:Person {id: $p1})-[:Knows]-(:Person)-[:Knows]-(f:Person) WHERE f.id <> $p1 AND NOT EXISTS { MATCH (p)-[:Knows]-(f) }
WITH DISTINCT p, f
WHERE date_part('month', f.birthday) = $p2 AND date_part('day', f.birthday) >= 21
  OR date_part('month', f.birthday) = $p2 % 12 + 1 AND date_part('day', f.birthday) < 22
MATCH (f)-[:LivesIn]->(city:City)
OPTIONAL MATCH (f)<-[:HasCreator]-(m:Message) WHERE m.post
WITH f, city, CASE WHEN m.id IS NULL THEN 0 WHEN EXISTS { MATCH (m)-[:HasTag]->(:Tag)<-[:HasInterest]-(p) } THEN 1 ELSE -1 END AS one
WITH f, city, CAST(sum(one) AS INT64) AS score
RETURN f.id, f.firstName, f.lastName, score, f.gender, city.name ORDER BY score DESC, f.id LIMIT 10

//: ic11
MATCH (p:Person {id: $p1})-[:Knows*1..2]-(f:Person) WHERE f.id <> $p1
WITH DISTINCT f
MATCH (f)-[j:WorkAt]->(o:Company)-[:CompanyIn]->(c:Country) WHERE c.name = $p2 AND j.workFrom < $p3
RETURN f.id, f.firstName, f.lastName, o.name, j.workFrom ORDER BY j.workFrom, f.id, o.name DESC LIMIT 10

//: ic12
MATCH (t:Tag)-[:HasType]->(:TagClass)-[:SubclassOf*0..20]->(k:TagClass) WHERE k.name = $p2
MATCH (p:Person {id: $p1})-[:Knows]-(f:Person)<-[:HasCreator]-(r:Message)-[:ReplyOf]->(m:Message)-[:HasTag]->(t) WHERE m.post
WITH f, collect(DISTINCT t.name) AS tags, count(DISTINCT r.id) AS n
RETURN f.id, f.firstName, f.lastName, tags, n ORDER BY n DESC, f.id LIMIT 20

//: ic13
MATCH (a:Person {id: $p1}), (b:Person {id: $p2})
OPTIONAL MATCH (a)-[e:Knows* SHORTEST 1..30]-(b)
RETURN CASE WHEN a.id = b.id THEN 0 WHEN length(e) IS NULL THEN -1 ELSE length(e) END

//: is1
MATCH (p:Person {id: $p1})-[:LivesIn]->(c:City)
RETURN p.firstName, p.lastName, p.birthday - date('1970-01-01'), p.locationIP, p.browserUsed, c.id, p.gender, p.creationDate

//: is2
MATCH (:Person {id: $p1})<-[:HasCreator]-(m:Message)
WITH m ORDER BY m.creationDate DESC, m.id DESC LIMIT 10
MATCH (m)-[:ReplyOf*0..30]->(root:Message)-[:HasCreator]->(a:Person) WHERE root.post
RETURN m.id, m.content, m.creationDate, string(root.id) + '|' + string(a.id) + '|' + a.firstName + '|' + a.lastName
ORDER BY m.creationDate DESC, m.id DESC

//: is3
MATCH (:Person {id: $p1})-[k:Knows]-(f:Person)
RETURN f.id, f.firstName, f.lastName, k.creationDate ORDER BY k.creationDate DESC, f.id

//: is4
MATCH (m:Message {id: $p1}) RETURN m.creationDate, m.content

//: is5
MATCH (:Message {id: $p1})-[:HasCreator]->(p:Person) RETURN p.id, p.firstName, p.lastName

//: is6
MATCH (:Message {id: $p1})-[:ReplyOf*0..30]->(root:Message)<-[:ContainerOf]-(f:Forum)-[:HasModerator]->(p:Person)
RETURN f.id, f.title, p.id, p.firstName, p.lastName

//: is7
MATCH (m:Message {id: $p1})<-[:ReplyOf]-(c:Message)-[:HasCreator]->(a:Person)
MATCH (m)-[:HasCreator]->(o:Person)
RETURN c.id, c.content, c.creationDate, a.id, a.firstName, a.lastName, EXISTS { MATCH (a)-[:Knows]-(o) }
ORDER BY c.creationDate DESC, a.id, c.id

//: lsqb1
MATCH (:Country)<-[:CityOf]-(:City)<-[:LivesIn]-(:Person)<-[:HasMember]-(:Forum)-[:ContainerOf]->(:Message)<-[:ReplyOf]-(:Message)-[:HasTag]->(:Tag)-[:HasType]->(:TagClass)
RETURN count(*)

//: lsqb2
MATCH (a:Person)-[:Knows]-(b:Person), (a)<-[:HasCreator]-(:Message)-[:ReplyOf]->(m:Message)-[:HasCreator]->(b) WHERE m.post
RETURN count(*)

//: lsqb3
MATCH (country:Country)
MATCH (a:Person)-[:LivesIn]->(:City)-[:CityOf]->(country)
MATCH (b:Person)-[:LivesIn]->(:City)-[:CityOf]->(country)
MATCH (c:Person)-[:LivesIn]->(:City)-[:CityOf]->(country)
MATCH (a)-[:Knows]-(b)-[:Knows]-(c)-[:Knows]-(a)
RETURN count(*)

//: lsqb4
MATCH (:Tag)<-[:HasTag]-(m:Message)-[:HasCreator]->(:Person), (m)<-[:Likes]-(:Person), (m)<-[:ReplyOf]-(:Message)
RETURN count(*)

//: lsqb5
MATCH (a:Tag)<-[:HasTag]-(:Message)<-[:ReplyOf]-(:Message)-[:HasTag]->(b:Tag) WHERE id(a) <> id(b)
RETURN count(*)

//: lsqb6
MATCH (a:Person)-[:Knows]-(:Person)-[:Knows]-(c:Person)-[:HasInterest]->(:Tag) WHERE id(a) <> id(c)
RETURN count(*)

//: lsqb7
MATCH (:Tag)<-[:HasTag]-(m:Message)-[:HasCreator]->(:Person)
OPTIONAL MATCH (m)<-[l:Likes]-(:Person)
OPTIONAL MATCH (m)<-[:ReplyOf]-(c:Message)
RETURN count(*)

//: lsqb8
MATCH (a:Tag)<-[:HasTag]-(:Message)<-[:ReplyOf]-(c:Message)-[:HasTag]->(b:Tag) WHERE id(a) <> id(b) AND NOT EXISTS { MATCH (c)-[:HasTag]->(a) }
RETURN count(*)

//: lsqb9
MATCH (a:Person)-[:Knows]-(:Person)-[:Knows]-(c:Person)-[:HasInterest]->(:Tag) WHERE id(a) <> id(c) AND NOT EXISTS { MATCH (a)-[:Knows]-(c) }
RETURN count(*)
