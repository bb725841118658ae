// The reads of the Social Network Benchmark and the counts of LSQB for Neo4j, each after a line with the
// name of the stored query. The parameters are p1, p2 and so on, with times in milliseconds.

//: ic1
MATCH (p:Person {id: $p1}), (f:Person {firstName: $p2}) WHERE f <> p
MATCH path = shortestPath((p)-[:KNOWS*1..3]-(f))
WITH f, length(path) AS distance ORDER BY distance, f.lastName, f.id LIMIT 20
MATCH (f)-[:LIVES_IN]->(city)
RETURN f.id, f.lastName, distance, duration.inDays(date('1970-01-01'), f.birthday).days, f.creationDate, f.gender, f.browserUsed,
  f.locationIP, f.emails, f.speaks, city.name,
  [(f)-[s:STUDY_AT]->(u)-[:LOCATED_IN]->(c) | u.name + '|' + toString(s.classYear) + '|' + c.name],
  [(f)-[j:WORK_AT]->(o)-[:LOCATED_IN]->(c) | o.name + '|' + toString(j.workFrom) + '|' + c.name]
ORDER BY distance, f.lastName, f.id

//: ic2
MATCH (:Person {id: $p1})-[:KNOWS]-(f)<-[:HAS_CREATOR]-(m) WHERE m.creationDate <= $p2
RETURN f.id, f.firstName, f.lastName, m.id, m.content, m.creationDate ORDER BY m.creationDate DESC, m.id LIMIT 20

//: ic3
MATCH (p:Person {id: $p1})-[:KNOWS*1..2]-(f) WHERE f <> p
WITH DISTINCT f
MATCH (f)-[:LIVES_IN]->()-[:PART_OF]->(home) WHERE NOT home.name IN [$p2, $p3]
MATCH (f)<-[:HAS_CREATOR]-(m)-[:SENT_FROM]->(c)
WHERE c.name IN [$p2, $p3] AND m.creationDate >= $p4 AND m.creationDate < $p4 + $p5 * 86400000
WITH f, sum(CASE c.name WHEN $p2 THEN 1 ELSE 0 END) AS x, sum(CASE c.name WHEN $p3 THEN 1 ELSE 0 END) AS y WHERE x > 0 AND y > 0
RETURN f.id, f.firstName, f.lastName, x, y, x + y AS n ORDER BY n DESC, f.id LIMIT 20

//: ic4
MATCH (:Person {id: $p1})-[:KNOWS]-(f)<-[:HAS_CREATOR]-(m:Post)-[:HAS_TAG]->(t) WHERE m.creationDate < $p2 + $p3 * 86400000
WITH t, count(*) AS n, min(m.creationDate) AS earliest WHERE earliest >= $p2
RETURN t.name, n ORDER BY n DESC, t.name LIMIT 10

//: ic5
MATCH (p:Person {id: $p1})-[:KNOWS*1..2]-(f) WHERE f <> p
WITH DISTINCT f
MATCH (f)<-[j:HAS_MEMBER]-(g) WHERE j.joinDate > $p2
OPTIONAL MATCH (g)-[:CONTAINER_OF]->(m)-[:HAS_CREATOR]->(f)
WITH g, count(m) AS n
RETURN g.title, n, g.id ORDER BY n DESC, g.id LIMIT 20

//: ic6
MATCH (p:Person {id: $p1})-[:KNOWS*1..2]-(f) WHERE f <> p
WITH DISTINCT f
MATCH (t:Tag {name: $p2})<-[:HAS_TAG]-(m:Post)-[:HAS_CREATOR]->(f)
MATCH (m)-[:HAS_TAG]->(o) WHERE o <> t
WITH o.name AS name, count(*) AS n
RETURN name, n ORDER BY n DESC, name LIMIT 10

//: ic7
MATCH (p:Person {id: $p1})<-[:HAS_CREATOR]-(m)<-[l:LIKES]-(k)
WITH p, k, m, l ORDER BY l.creationDate DESC, m.id
WITH p, k, collect({message: m, at: l.creationDate})[0] AS best
RETURN k.id, k.firstName, k.lastName, best.at AS at, best.message.id, best.message.content,
  (best.at - best.message.creationDate) / 60000, NOT EXISTS { (p)-[:KNOWS]-(k) }
ORDER BY at DESC, k.id LIMIT 20

//: ic8
MATCH (:Person {id: $p1})<-[:HAS_CREATOR]-(m)<-[:REPLY_OF]-(c)-[:HAS_CREATOR]->(a)
RETURN a.id, a.firstName, a.lastName, c.creationDate, c.id, c.content ORDER BY c.creationDate DESC, c.id LIMIT 20

//: ic9
MATCH (p:Person {id: $p1})-[:KNOWS*1..2]-(f) WHERE f <> p
WITH DISTINCT f
MATCH (f)<-[:HAS_CREATOR]-(m) WHERE m.creationDate < $p2
RETURN f.id, f.firstName, f.lastName, m.id, m.content, m.creationDate ORDER BY m.creationDate DESC, m.id LIMIT 20

//: ic10
MATCH (p:Person {id: $p1})-[:KNOWS*2..2]-(f) WHERE f <> p AND NOT EXISTS { (p)-[:KNOWS]-(f) }
WITH DISTINCT p, f
WHERE f.birthday.month = $p2 AND f.birthday.day >= 21 OR f.birthday.month = $p2 % 12 + 1 AND f.birthday.day < 22
MATCH (f)-[:LIVES_IN]->(city)
OPTIONAL MATCH (f)<-[:HAS_CREATOR]-(m:Post)
WITH f, city, CASE WHEN m IS NULL THEN 0 WHEN EXISTS { (m)-[:HAS_TAG]->()<-[:HAS_INTEREST]-(p) } THEN 1 ELSE -1 END AS one
WITH f, city, sum(one) AS score
RETURN f.id, f.firstName, f.lastName, score, f.gender, city.name ORDER BY score DESC, f.id LIMIT 10

//: ic11
MATCH (p:Person {id: $p1})-[:KNOWS*1..2]-(f) WHERE f <> p
WITH DISTINCT f
MATCH (f)-[j:WORK_AT]->(o)-[:LOCATED_IN]->(:Place {name: $p2}) WHERE j.workFrom < $p3
RETURN f.id, f.firstName, f.lastName, o.name, j.workFrom ORDER BY j.workFrom, f.id, o.name DESC LIMIT 10

//: ic12
MATCH (:Person {id: $p1})-[:KNOWS]-(f)<-[:HAS_CREATOR]-(r:Comment)-[:REPLY_OF]->(:Post)-[:HAS_TAG]->(t)-[:HAS_TYPE]->()-[:SUBCLASS_OF*0..]->(:TagClass {name: $p2})
WITH f, collect(DISTINCT t.name) AS tags, count(DISTINCT r) AS n
RETURN f.id, f.firstName, f.lastName, tags, n ORDER BY n DESC, f.id LIMIT 20

//: ic13
MATCH (a:Person {id: $p1}), (b:Person {id: $p2})
OPTIONAL MATCH path = shortestPath((a)-[:KNOWS*]-(b))
RETURN CASE WHEN a = b THEN 0 ELSE coalesce(length(path), -1) END

//: is1
MATCH (p:Person {id: $p1})-[:LIVES_IN]->(c)
RETURN p.firstName, p.lastName, duration.inDays(date('1970-01-01'), p.birthday).days, p.locationIP, p.browserUsed, c.id, p.gender, p.creationDate

//: is2
MATCH (:Person {id: $p1})<-[:HAS_CREATOR]-(m)
WITH m ORDER BY m.creationDate DESC, m.id DESC LIMIT 10
MATCH (m)-[:REPLY_OF*0..]->(post:Post)-[:HAS_CREATOR]->(a)
RETURN m.id, m.content, m.creationDate, toString(post.id) + '|' + toString(a.id) + '|' + a.firstName + '|' + a.lastName
ORDER BY m.creationDate DESC, m.id DESC

//: is3
MATCH (:Person {id: $p1})-[k:KNOWS]-(f)
RETURN f.id, f.firstName, f.lastName, k.creationDate ORDER BY k.creationDate DESC, f.id

//: is4
MATCH (m:Message {id: $p1}) RETURN m.creationDate, m.content

//: is5
MATCH (:Message {id: $p1})-[:HAS_CREATOR]->(p) RETURN p.id, p.firstName, p.lastName

//: is6
MATCH (:Message {id: $p1})-[:REPLY_OF*0..]->(:Post)<-[:CONTAINER_OF]-(f)-[:HAS_MODERATOR]->(p)
RETURN f.id, f.title, p.id, p.firstName, p.lastName

//: is7
MATCH (m:Message {id: $p1})<-[:REPLY_OF]-(c)-[:HAS_CREATOR]->(a)
MATCH (m)-[:HAS_CREATOR]->(o)
RETURN c.id, c.content, c.creationDate, a.id, a.firstName, a.lastName, EXISTS { (a)-[:KNOWS]-(o) }
ORDER BY c.creationDate DESC, a.id, c.id

//: lsqb1
MATCH (:Country)<-[:PART_OF]-(:City)<-[:LIVES_IN]-(:Person)<-[:HAS_MEMBER]-(:Forum)-[:CONTAINER_OF]->(:Post)<-[:REPLY_OF]-(:Comment)-[:HAS_TAG]->(:Tag)-[:HAS_TYPE]->(:TagClass)
RETURN count(*)

//: lsqb2
MATCH (a:Person)-[:KNOWS]-(b:Person), (a)<-[:HAS_CREATOR]-(:Comment)-[:REPLY_OF]->(:Post)-[:HAS_CREATOR]->(b)
RETURN count(*)

//: lsqb3
MATCH (country:Country)
MATCH (a:Person)-[:LIVES_IN]->(:City)-[:PART_OF]->(country)
MATCH (b:Person)-[:LIVES_IN]->(:City)-[:PART_OF]->(country)
MATCH (c:Person)-[:LIVES_IN]->(:City)-[:PART_OF]->(country)
MATCH (a)-[:KNOWS]-(b)-[:KNOWS]-(c)-[:KNOWS]-(a)
RETURN count(*)

//: lsqb4
MATCH (:Tag)<-[:HAS_TAG]-(m:Message)-[:HAS_CREATOR]->(:Person), (m)<-[:LIKES]-(:Person), (m)<-[:REPLY_OF]-(:Comment)
RETURN count(*)

//: lsqb5
MATCH (a:Tag)<-[:HAS_TAG]-(:Message)<-[:REPLY_OF]-(:Comment)-[:HAS_TAG]->(b:Tag) WHERE a <> b
RETURN count(*)

//: lsqb6
MATCH (a:Person)-[:KNOWS]-(:Person)-[:KNOWS]-(c:Person)-[:HAS_INTEREST]->(:Tag) WHERE a <> c
RETURN count(*)

//: lsqb7
MATCH (:Tag)<-[:HAS_TAG]-(m:Message)-[:HAS_CREATOR]->(:Person)
OPTIONAL MATCH (m)<-[l:LIKES]-(:Person)
OPTIONAL MATCH (m)<-[:REPLY_OF]-(c:Comment)
RETURN count(*)

//: lsqb8
MATCH (a:Tag)<-[:HAS_TAG]-(:Message)<-[:REPLY_OF]-(c:Comment)-[:HAS_TAG]->(b:Tag) WHERE a <> b AND NOT EXISTS { (c)-[:HAS_TAG]->(a) }
RETURN count(*)

//: lsqb9
MATCH (a:Person)-[:KNOWS]-(:Person)-[:KNOWS]-(c:Person)-[:HAS_INTEREST]->(:Tag) WHERE a <> c AND NOT EXISTS { (a)-[:KNOWS]-(c) }
RETURN count(*)
