-- key: dk_1_BlhxgLwT2238Au3XdHVshGf737IWerWR4Wl3iMQFQPk
BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE api_keys (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	user_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	key_hash TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	revoked_at TEXT, 
	last_used_at TEXT, 
	CONSTRAINT uq_api_keys_key_hash UNIQUE (key_hash), 
	CONSTRAINT fk_api_keys_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);
INSERT INTO "api_keys" VALUES(1,1,'nightly','3ab24a6bd6c91597f7094015ab9f7994cf25b8de0b4811edcd60468c60961f01','2024-03-01T09:00:03.000000+00:00',NULL,NULL);
CREATE TABLE datasets (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	slug TEXT NOT NULL, 
	title TEXT NOT NULL, 
	opened_at TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	policy TEXT NOT NULL, 
	policy_version INTEGER NOT NULL, 
	frontier TEXT, 
	listed TEXT, 
	variables TEXT NOT NULL, 
	previous INTEGER, 
	closed_at TEXT, 
	head_number INTEGER NOT NULL, 
	head_hash TEXT NOT NULL, 
	CONSTRAINT uq_datasets_slug UNIQUE (slug), 
	CONSTRAINT fk_datasets_previous FOREIGN KEY(previous) REFERENCES datasets (id)
);
INSERT INTO "datasets" VALUES(1,'tract','A tract','2024-03-01T09:00:04.000000+00:00','05a4f3cbc7b5c9a654a085dd71860c5ccc6b8b7890b33843fb355e68ddf55c15','name = "discreet''s defaults"
locked = []

[small]  # Identification: counts so small that they point at a person.
most = 2  # counts from 1 to this are small
width = 3  # beta: upper minus lower bound that every small count must keep

[published]  # What a published table shows by itself, whatever else is in the file.
least = 3  # no published count from 1 to this less 1; 0 or 1 switches it off
zeros = false  # is a published zero too small as well?
tables = ""  # other least counts for some tables: `Sex*Town: 10; Ill: 5`

[attribute]  # Attribute disclosure: what is learned of every member of a group.
check = true  # is attribute disclosure checked?
share = 0.95  # a lower bound of this share of a group tells the category of its members
exclusion = true  # does it count that a category is ruled out for a group?
order = 4  # groups by up to this many variables are checked across margins

[closeness]  # Bounds too close to the true count, whatever its size.
share = 0.0  # an interval must reach this share of a count away from it; 0 switches it off

[tables]  # The number of tables that fit: the intruder''s doubt about the whole table.
least = 0  # at least so many tables must fit the release; 0 switches it off
seconds = 10.0  # time to count them

[belief]  # What an intruder believes: an interval can be wide and its true count nearly certain.
most = 0.0  # no true small count may be this probable or more; 0 switches it off
identified = 1.0  # at most this share of the small counts may be guessed right; 1 switches it off
threshold = 0.0  # an intruder acts on a guess of at least this probability
people = 0.0  # at most so many people identified, on average; 0 switches it off
true_table = 1.0  # the true table may have at most this probability; 1 switches it off
attribute = 0.0  # no group''s true category may be this probable or more; 0 switches it off
entropy = 0.0  # nats that the belief about the table must keep; 0 switches it off
zeros = false  # are zeros small counts too?
model = "saturated"  # of the intruder: saturated, uniform, average, or a formula
prior = 0.5  # Dirichlet parameter of each cell, above 0
standard_error = 0.002  # of sampled probabilities
seconds = 60.0  # time for the beliefs

[knowledge]  # What a table teaches about one person: the uncertainty that must be left.
target = ""  # the variable that an intruder wants to know; empty switches it off
group = ""  # what is known of the person: a variable, or A*B
uncertainty = "largest"  # largest, entropy, variance, weighted:..., two-sided:A:B
measure = "knowledge"  # knowledge: at least the limit is left; gain, relative-gain: at most it is gone
limit = 0.0  # of what is measured

[sample]  # Data that are a sample: a small count may be large in the population.
check = false  # are small counts guarded only if they are small in the population?
chance = 0.05  # guarded from this probability on that the population count is small
model = "negative-binomial"  # of population counts: negative-binomial or a formula

[bounds]  # How intervals are found, and what is accepted as proof.
method = "auto"  # auto, closed, shuttle, linear or integer
proof = "integer"  # what must reach a width: integer (tables of whole numbers), linear (tables of fractions), outer (nothing)
seconds = 600.0  # time for one set of linear or integer programs
witness_seconds = 60.0  # time to look for tables that prove a width; 0 switches it off
gigabytes = 4.0  # memory for the shuttle

[alternatives]  # What is offered when a release does not pass.
number = 3  # how many to offer of each kind
seconds = 60.0  # time for the search

[server]  # What a table server answers, and how.
rule = "myopic"  # static: a frontier chosen once; myopic: what is safe with all that is out; simulatable: what is safe as far as the public can tell
approval = "review"  # what a custodian must approve: never (doubt is refused), review (doubt), always
one_way = true  # are the one-way margins out from the start?
curated = false  # can only margins be asked for that the custodian has listed?
max_order = 0  # most variables of a margin; 0: any number
cells = 100000  # most cells of a table that is answered
step_variables = 0  # most variables of a request beyond a released margin in it; 0: any number
step_cells = 0  # most cells that a request may newly publish; 0: any number
quota = 0  # new tables for one user in a day; 0: any number
delta = 0.05  # simulatable: most probability of an unsafe answer
draws = 400  # simulatable: tables drawn to judge a request
slot = 0.0  # seconds: decisions by the data leave after this, or twice, four times, ... as much
',1,NULL,NULL,'[{"categories":["Male","Female"],"name":"Gender"},{"categories":["White","Black","Chinese"],"name":"Race"},{"categories":["up to $10,000","$10,001 to $25,000","over $25,000"],"name":"Income"}]',NULL,NULL,8,'abea7d93e1a629c63c242dca437818c363951061ffb51ca4ad538d003476015d');
INSERT INTO "datasets" VALUES(2,'czech','Workers','2024-03-01T09:00:13.000000+00:00','9cd9aa7ce051dcb7237c3f8db7d282e406e7587877496b705bc3580306850860','name = "discreet''s defaults"
locked = []

[small]  # Identification: counts so small that they point at a person.
most = 2  # counts from 1 to this are small
width = 3  # beta: upper minus lower bound that every small count must keep

[published]  # What a published table shows by itself, whatever else is in the file.
least = 3  # no published count from 1 to this less 1; 0 or 1 switches it off
zeros = false  # is a published zero too small as well?
tables = ""  # other least counts for some tables: `Sex*Town: 10; Ill: 5`

[attribute]  # Attribute disclosure: what is learned of every member of a group.
check = true  # is attribute disclosure checked?
share = 0.95  # a lower bound of this share of a group tells the category of its members
exclusion = true  # does it count that a category is ruled out for a group?
order = 4  # groups by up to this many variables are checked across margins

[closeness]  # Bounds too close to the true count, whatever its size.
share = 0.0  # an interval must reach this share of a count away from it; 0 switches it off

[tables]  # The number of tables that fit: the intruder''s doubt about the whole table.
least = 0  # at least so many tables must fit the release; 0 switches it off
seconds = 10.0  # time to count them

[belief]  # What an intruder believes: an interval can be wide and its true count nearly certain.
most = 0.0  # no true small count may be this probable or more; 0 switches it off
identified = 1.0  # at most this share of the small counts may be guessed right; 1 switches it off
threshold = 0.0  # an intruder acts on a guess of at least this probability
people = 0.0  # at most so many people identified, on average; 0 switches it off
true_table = 1.0  # the true table may have at most this probability; 1 switches it off
attribute = 0.0  # no group''s true category may be this probable or more; 0 switches it off
entropy = 0.0  # nats that the belief about the table must keep; 0 switches it off
zeros = false  # are zeros small counts too?
model = "saturated"  # of the intruder: saturated, uniform, average, or a formula
prior = 0.5  # Dirichlet parameter of each cell, above 0
standard_error = 0.002  # of sampled probabilities
seconds = 60.0  # time for the beliefs

[knowledge]  # What a table teaches about one person: the uncertainty that must be left.
target = ""  # the variable that an intruder wants to know; empty switches it off
group = ""  # what is known of the person: a variable, or A*B
uncertainty = "largest"  # largest, entropy, variance, weighted:..., two-sided:A:B
measure = "knowledge"  # knowledge: at least the limit is left; gain, relative-gain: at most it is gone
limit = 0.0  # of what is measured

[sample]  # Data that are a sample: a small count may be large in the population.
check = false  # are small counts guarded only if they are small in the population?
chance = 0.05  # guarded from this probability on that the population count is small
model = "negative-binomial"  # of population counts: negative-binomial or a formula

[bounds]  # How intervals are found, and what is accepted as proof.
method = "auto"  # auto, closed, shuttle, linear or integer
proof = "integer"  # what must reach a width: integer (tables of whole numbers), linear (tables of fractions), outer (nothing)
seconds = 600.0  # time for one set of linear or integer programs
witness_seconds = 60.0  # time to look for tables that prove a width; 0 switches it off
gigabytes = 4.0  # memory for the shuttle

[alternatives]  # What is offered when a release does not pass.
number = 3  # how many to offer of each kind
seconds = 60.0  # time for the search

[server]  # What a table server answers, and how.
rule = "myopic"  # static: a frontier chosen once; myopic: what is safe with all that is out; simulatable: what is safe as far as the public can tell
approval = "always"  # what a custodian must approve: never (doubt is refused), review (doubt), always
one_way = true  # are the one-way margins out from the start?
curated = false  # can only margins be asked for that the custodian has listed?
max_order = 0  # most variables of a margin; 0: any number
cells = 100000  # most cells of a table that is answered
step_variables = 0  # most variables of a request beyond a released margin in it; 0: any number
step_cells = 0  # most cells that a request may newly publish; 0: any number
quota = 0  # new tables for one user in a day; 0: any number
delta = 0.05  # simulatable: most probability of an unsafe answer
draws = 400  # simulatable: tables drawn to judge a request
slot = 0.0  # seconds: decisions by the data leave after this, or twice, four times, ... as much
',2,NULL,'[["A","B","C"],["E","F"]]','[{"categories":["no","yes"],"name":"A"},{"categories":["no","yes"],"name":"B"},{"categories":["no","yes"],"name":"C"},{"categories":["< 140",">= 140"],"name":"D"},{"categories":["< 3",">= 3"],"name":"E"},{"categories":["negative","positive"],"name":"F"}]',NULL,NULL,15,'d63bfb8349e34597ffd0ce322e261a1cee60ab9c99e69e5b0ce888f65c866d3a');
INSERT INTO "datasets" VALUES(3,'people-2025','people-2025','2024-03-01T09:00:29.000000+00:00','a3e490f84956536f8ca169513f1813417207b3b241c88e95248060faff31f3c3','name = "discreet''s defaults"
locked = []

[small]  # Identification: counts so small that they point at a person.
most = 2  # counts from 1 to this are small
width = 3  # beta: upper minus lower bound that every small count must keep

[published]  # What a published table shows by itself, whatever else is in the file.
least = 3  # no published count from 1 to this less 1; 0 or 1 switches it off
zeros = false  # is a published zero too small as well?
tables = ""  # other least counts for some tables: `Sex*Town: 10; Ill: 5`

[attribute]  # Attribute disclosure: what is learned of every member of a group.
check = true  # is attribute disclosure checked?
share = 0.95  # a lower bound of this share of a group tells the category of its members
exclusion = true  # does it count that a category is ruled out for a group?
order = 4  # groups by up to this many variables are checked across margins

[closeness]  # Bounds too close to the true count, whatever its size.
share = 0.0  # an interval must reach this share of a count away from it; 0 switches it off

[tables]  # The number of tables that fit: the intruder''s doubt about the whole table.
least = 0  # at least so many tables must fit the release; 0 switches it off
seconds = 10.0  # time to count them

[belief]  # What an intruder believes: an interval can be wide and its true count nearly certain.
most = 0.0  # no true small count may be this probable or more; 0 switches it off
identified = 1.0  # at most this share of the small counts may be guessed right; 1 switches it off
threshold = 0.0  # an intruder acts on a guess of at least this probability
people = 0.0  # at most so many people identified, on average; 0 switches it off
true_table = 1.0  # the true table may have at most this probability; 1 switches it off
attribute = 0.0  # no group''s true category may be this probable or more; 0 switches it off
entropy = 0.0  # nats that the belief about the table must keep; 0 switches it off
zeros = false  # are zeros small counts too?
model = "saturated"  # of the intruder: saturated, uniform, average, or a formula
prior = 0.5  # Dirichlet parameter of each cell, above 0
standard_error = 0.002  # of sampled probabilities
seconds = 60.0  # time for the beliefs

[knowledge]  # What a table teaches about one person: the uncertainty that must be left.
target = ""  # the variable that an intruder wants to know; empty switches it off
group = ""  # what is known of the person: a variable, or A*B
uncertainty = "largest"  # largest, entropy, variance, weighted:..., two-sided:A:B
measure = "knowledge"  # knowledge: at least the limit is left; gain, relative-gain: at most it is gone
limit = 0.0  # of what is measured

[sample]  # Data that are a sample: a small count may be large in the population.
check = false  # are small counts guarded only if they are small in the population?
chance = 0.05  # guarded from this probability on that the population count is small
model = "negative-binomial"  # of population counts: negative-binomial or a formula

[bounds]  # How intervals are found, and what is accepted as proof.
method = "auto"  # auto, closed, shuttle, linear or integer
proof = "integer"  # what must reach a width: integer (tables of whole numbers), linear (tables of fractions), outer (nothing)
seconds = 600.0  # time for one set of linear or integer programs
witness_seconds = 60.0  # time to look for tables that prove a width; 0 switches it off
gigabytes = 4.0  # memory for the shuttle

[alternatives]  # What is offered when a release does not pass.
number = 3  # how many to offer of each kind
seconds = 60.0  # time for the search

[server]  # What a table server answers, and how.
rule = "static"  # static: a frontier chosen once; myopic: what is safe with all that is out; simulatable: what is safe as far as the public can tell
approval = "review"  # what a custodian must approve: never (doubt is refused), review (doubt), always
one_way = true  # are the one-way margins out from the start?
curated = false  # can only margins be asked for that the custodian has listed?
max_order = 0  # most variables of a margin; 0: any number
cells = 100000  # most cells of a table that is answered
step_variables = 0  # most variables of a request beyond a released margin in it; 0: any number
step_cells = 0  # most cells that a request may newly publish; 0: any number
quota = 0  # new tables for one user in a day; 0: any number
delta = 0.05  # simulatable: most probability of an unsafe answer
draws = 400  # simulatable: tables drawn to judge a request
slot = 0.25  # seconds: decisions by the data leave after this, or twice, four times, ... as much
',1,'[["Sex"],["Town"]]',NULL,'[{"categories":["F","M"],"name":"Sex"},{"categories":["N","S"],"name":"Town"}]',NULL,'2024-03-01T09:00:33.000000+00:00',4,'85cd6d20a15f735bb4f8ca0fbd6fcddc248c005f7a55ea209c1b850809a78b35');
INSERT INTO "datasets" VALUES(4,'people-2026','people-2026','2024-03-01T09:00:35.000000+00:00','348bd42e97d0dddc286d90cf3140bef61133f0540e4123a0200e5aef40343585','name = "discreet''s defaults"
locked = []

[small]  # Identification: counts so small that they point at a person.
most = 2  # counts from 1 to this are small
width = 3  # beta: upper minus lower bound that every small count must keep

[published]  # What a published table shows by itself, whatever else is in the file.
least = 3  # no published count from 1 to this less 1; 0 or 1 switches it off
zeros = false  # is a published zero too small as well?
tables = ""  # other least counts for some tables: `Sex*Town: 10; Ill: 5`

[attribute]  # Attribute disclosure: what is learned of every member of a group.
check = true  # is attribute disclosure checked?
share = 0.95  # a lower bound of this share of a group tells the category of its members
exclusion = true  # does it count that a category is ruled out for a group?
order = 4  # groups by up to this many variables are checked across margins

[closeness]  # Bounds too close to the true count, whatever its size.
share = 0.0  # an interval must reach this share of a count away from it; 0 switches it off

[tables]  # The number of tables that fit: the intruder''s doubt about the whole table.
least = 0  # at least so many tables must fit the release; 0 switches it off
seconds = 10.0  # time to count them

[belief]  # What an intruder believes: an interval can be wide and its true count nearly certain.
most = 0.0  # no true small count may be this probable or more; 0 switches it off
identified = 1.0  # at most this share of the small counts may be guessed right; 1 switches it off
threshold = 0.0  # an intruder acts on a guess of at least this probability
people = 0.0  # at most so many people identified, on average; 0 switches it off
true_table = 1.0  # the true table may have at most this probability; 1 switches it off
attribute = 0.0  # no group''s true category may be this probable or more; 0 switches it off
entropy = 0.0  # nats that the belief about the table must keep; 0 switches it off
zeros = false  # are zeros small counts too?
model = "saturated"  # of the intruder: saturated, uniform, average, or a formula
prior = 0.5  # Dirichlet parameter of each cell, above 0
standard_error = 0.002  # of sampled probabilities
seconds = 60.0  # time for the beliefs

[knowledge]  # What a table teaches about one person: the uncertainty that must be left.
target = ""  # the variable that an intruder wants to know; empty switches it off
group = ""  # what is known of the person: a variable, or A*B
uncertainty = "largest"  # largest, entropy, variance, weighted:..., two-sided:A:B
measure = "knowledge"  # knowledge: at least the limit is left; gain, relative-gain: at most it is gone
limit = 0.0  # of what is measured

[sample]  # Data that are a sample: a small count may be large in the population.
check = false  # are small counts guarded only if they are small in the population?
chance = 0.05  # guarded from this probability on that the population count is small
model = "negative-binomial"  # of population counts: negative-binomial or a formula

[bounds]  # How intervals are found, and what is accepted as proof.
method = "auto"  # auto, closed, shuttle, linear or integer
proof = "integer"  # what must reach a width: integer (tables of whole numbers), linear (tables of fractions), outer (nothing)
seconds = 600.0  # time for one set of linear or integer programs
witness_seconds = 60.0  # time to look for tables that prove a width; 0 switches it off
gigabytes = 4.0  # memory for the shuttle

[alternatives]  # What is offered when a release does not pass.
number = 3  # how many to offer of each kind
seconds = 60.0  # time for the search

[server]  # What a table server answers, and how.
rule = "static"  # static: a frontier chosen once; myopic: what is safe with all that is out; simulatable: what is safe as far as the public can tell
approval = "review"  # what a custodian must approve: never (doubt is refused), review (doubt), always
one_way = true  # are the one-way margins out from the start?
curated = false  # can only margins be asked for that the custodian has listed?
max_order = 0  # most variables of a margin; 0: any number
cells = 100000  # most cells of a table that is answered
step_variables = 0  # most variables of a request beyond a released margin in it; 0: any number
step_cells = 0  # most cells that a request may newly publish; 0: any number
quota = 0  # new tables for one user in a day; 0: any number
delta = 0.05  # simulatable: most probability of an unsafe answer
draws = 400  # simulatable: tables drawn to judge a request
slot = 0.25  # seconds: decisions by the data leave after this, or twice, four times, ... as much
',1,'[["Sex"],["Town"]]',NULL,'[{"categories":["F","M"],"name":"Sex"},{"categories":["N","S"],"name":"Town"}]',3,NULL,3,'3d86ffd0277e82833dd09a977348220023685c4e35bde750ad2b1dd77567fccb');
CREATE TABLE entries (
	dataset_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	actor TEXT NOT NULL, 
	about INTEGER, 
	margin TEXT, 
	outcome TEXT, 
	why TEXT, 
	note TEXT, 
	policy_version INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	terms TEXT, 
	table_hash TEXT, 
	previous TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	CONSTRAINT pk_entries PRIMARY KEY (dataset_id, number), 
	CONSTRAINT fk_entries_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id)
);
INSERT INTO "entries" VALUES(1,1,'2024-03-01T09:00:05.000000+00:00','opened','public',NULL,NULL,NULL,NULL,NULL,1,'78e31a71147fa16a3e4fe5f4432c4e2bf0561c86122ec4888f991e02b92748bd','{"closed_at":null,"fingerprint":"05a4f3cbc7b5c9a654a085dd71860c5ccc6b8b7890b33843fb355e68ddf55c15","frontier":null,"listed":null,"opened_at":"2024-03-01T09:00:04.000000+00:00","policy":"name = \"discreet''s defaults\"\nlocked = []\n\n[small]  # Identification: counts so small that they point at a person.\nmost = 2  # counts from 1 to this are small\nwidth = 3  # beta: upper minus lower bound that every small count must keep\n\n[published]  # What a published table shows by itself, whatever else is in the file.\nleast = 3  # no published count from 1 to this less 1; 0 or 1 switches it off\nzeros = false  # is a published zero too small as well?\ntables = \"\"  # other least counts for some tables: `Sex*Town: 10; Ill: 5`\n\n[attribute]  # Attribute disclosure: what is learned of every member of a group.\ncheck = true  # is attribute disclosure checked?\nshare = 0.95  # a lower bound of this share of a group tells the category of its members\nexclusion = true  # does it count that a category is ruled out for a group?\norder = 4  # groups by up to this many variables are checked across margins\n\n[closeness]  # Bounds too close to the true count, whatever its size.\nshare = 0.0  # an interval must reach this share of a count away from it; 0 switches it off\n\n[tables]  # The number of tables that fit: the intruder''s doubt about the whole table.\nleast = 0  # at least so many tables must fit the release; 0 switches it off\nseconds = 10.0  # time to count them\n\n[belief]  # What an intruder believes: an interval can be wide and its true count nearly certain.\nmost = 0.0  # no true small count may be this probable or more; 0 switches it off\nidentified = 1.0  # at most this share of the small counts may be guessed right; 1 switches it off\nthreshold = 0.0  # an intruder acts on a guess of at least this probability\npeople = 0.0  # at most so many people identified, on average; 0 switches it off\ntrue_table = 1.0  # the true table may have at most this probability; 1 switches it off\nattribute = 0.0  # no group''s true category may be this probable or more; 0 switches it off\nentropy = 0.0  # nats that the belief about the table must keep; 0 switches it off\nzeros = false  # are zeros small counts too?\nmodel = \"saturated\"  # of the intruder: saturated, uniform, average, or a formula\nprior = 0.5  # Dirichlet parameter of each cell, above 0\nstandard_error = 0.002  # of sampled probabilities\nseconds = 60.0  # time for the beliefs\n\n[knowledge]  # What a table teaches about one person: the uncertainty that must be left.\ntarget = \"\"  # the variable that an intruder wants to know; empty switches it off\ngroup = \"\"  # what is known of the person: a variable, or A*B\nuncertainty = \"largest\"  # largest, entropy, variance, weighted:..., two-sided:A:B\nmeasure = \"knowledge\"  # knowledge: at least the limit is left; gain, relative-gain: at most it is gone\nlimit = 0.0  # of what is measured\n\n[sample]  # Data that are a sample: a small count may be large in the population.\ncheck = false  # are small counts guarded only if they are small in the population?\nchance = 0.05  # guarded from this probability on that the population count is small\nmodel = \"negative-binomial\"  # of population counts: negative-binomial or a formula\n\n[bounds]  # How intervals are found, and what is accepted as proof.\nmethod = \"auto\"  # auto, closed, shuttle, linear or integer\nproof = \"integer\"  # what must reach a width: integer (tables of whole numbers), linear (tables of fractions), outer (nothing)\nseconds = 600.0  # time for one set of linear or integer programs\nwitness_seconds = 60.0  # time to look for tables that prove a width; 0 switches it off\ngigabytes = 4.0  # memory for the shuttle\n\n[alternatives]  # What is offered when a release does not pass.\nnumber = 3  # how many to offer of each kind\nseconds = 60.0  # time for the search\n\n[server]  # What a table server answers, and how.\nrule = \"myopic\"  # static: a frontier chosen once; myopic: what is safe with all that is out; simulatable: what is safe as far as the public can tell\napproval = \"review\"  # what a custodian must approve: never (doubt is refused), review (doubt), always\none_way = true  # are the one-way margins out from the start?\ncurated = false  # can only margins be asked for that the custodian has listed?\nmax_order = 0  # most variables of a margin; 0: any number\ncells = 100000  # most cells of a table that is answered\nstep_variables = 0  # most variables of a request beyond a released margin in it; 0: any number\nstep_cells = 0  # most cells that a request may newly publish; 0: any number\nquota = 0  # new tables for one user in a day; 0: any number\ndelta = 0.05  # simulatable: most probability of an unsafe answer\ndraws = 400  # simulatable: tables drawn to judge a request\nslot = 0.0  # seconds: decisions by the data leave after this, or twice, four times, ... as much\n","policy_version":1,"previous":null,"title":"A tract","variables":[{"categories":["Male","Female"],"name":"Gender"},{"categories":["White","Black","Chinese"],"name":"Race"},{"categories":["up to $10,000","$10,001 to $25,000","over $25,000"],"name":"Income"}]}',NULL,'0000000000000000000000000000000000000000000000000000000000000000','9f4fbdb397167c4a4c6106bf2bd42bca1e6156bfb111e412f73cf9e988673d03');
INSERT INTO "entries" VALUES(1,2,'2024-03-01T09:00:06.000000+00:00','published','public',NULL,'["Gender"]','granted','out',NULL,1,'f44a8415e2503e9fc989630814c5f8b1e734d963bc792a8cf60a64a1f4acd42c',NULL,'78130310a23511edd1f13819068dfb32e1bd186c8dbbc8ddd22eb01b7a046e20','9f4fbdb397167c4a4c6106bf2bd42bca1e6156bfb111e412f73cf9e988673d03','6c620ce16886788ae304ff49c077cb43c28c5cdd11b89b0f9f10f6e6a6180e43');
INSERT INTO "entries" VALUES(1,3,'2024-03-01T09:00:07.000000+00:00','published','public',NULL,'["Race"]','granted','out',NULL,1,'a911a545aff181e26d0dd92b5b07d7acc1b1280fbdecaab1a1cdf567ae180d15',NULL,'e9cabd25cab5d65ea379a303d07969d761c4276f600178aa18540c7da5dc15b6','6c620ce16886788ae304ff49c077cb43c28c5cdd11b89b0f9f10f6e6a6180e43','4b473c32f98f38303d165befa55ee2a1fe9c182c046153d2ae459026cb90d1a3');
INSERT INTO "entries" VALUES(1,4,'2024-03-01T09:00:08.000000+00:00','published','public',NULL,'["Income"]','granted','out',NULL,1,'1877982323be533e2687daa69e297bb094266d93fd3e5967ee574ec618158bcd',NULL,'fa06d6c567af5e35233d6cc8f34d953fabb996515addef28e3552e0ef29e9ed0','4b473c32f98f38303d165befa55ee2a1fe9c182c046153d2ae459026cb90d1a3','36ac25ddd8f758ea19cd02cecc0903d69777a02d4a7854e6082b589dc2c0bedc');
INSERT INTO "entries" VALUES(1,5,'2024-03-01T09:00:09.000000+00:00','request','public',NULL,'["Gender","Income"]','granted','safe',NULL,1,'a83f57f59eeaec1c7fa556fe7a31e09efd9d14ab3093a08a2f75be18c201f3d3',NULL,'7baed98dee2f40d0c60eab3b86a17825e95ec7a8344736c9fd3bd54d4c1bd994','36ac25ddd8f758ea19cd02cecc0903d69777a02d4a7854e6082b589dc2c0bedc','4b54a0bf2a5b5a0b3f7d5f87bacb9035eb776fba6e6bc9892c3159216e4711ae');
INSERT INTO "entries" VALUES(1,6,'2024-03-01T09:00:10.000000+00:00','request','public',NULL,'["Race","Income"]','refused','unsafe',NULL,1,'a83f57f59eeaec1c7fa556fe7a31e09efd9d14ab3093a08a2f75be18c201f3d3',NULL,NULL,'4b54a0bf2a5b5a0b3f7d5f87bacb9035eb776fba6e6bc9892c3159216e4711ae','714169db7bb9f4181688707e42fff1bd02a3104a0a28f854bb1d42a865092f21');
INSERT INTO "entries" VALUES(1,7,'2024-03-01T09:00:11.000000+00:00','request','public',NULL,'["Gender","Race"]','refused','unsafe',NULL,1,'a83f57f59eeaec1c7fa556fe7a31e09efd9d14ab3093a08a2f75be18c201f3d3',NULL,NULL,'714169db7bb9f4181688707e42fff1bd02a3104a0a28f854bb1d42a865092f21','def544fad0be91ee4861f3a6c481bb28c68f9ad4172bf88cdcf10d35e1872a0f');
INSERT INTO "entries" VALUES(1,8,'2024-03-01T09:00:12.000000+00:00','withdrawn','1',5,'["Gender","Income"]',NULL,NULL,'a coding error',1,'a83f57f59eeaec1c7fa556fe7a31e09efd9d14ab3093a08a2f75be18c201f3d3',NULL,NULL,'def544fad0be91ee4861f3a6c481bb28c68f9ad4172bf88cdcf10d35e1872a0f','abea7d93e1a629c63c242dca437818c363951061ffb51ca4ad538d003476015d');
INSERT INTO "entries" VALUES(2,1,'2024-03-01T09:00:14.000000+00:00','opened','public',NULL,NULL,NULL,NULL,NULL,1,'592640268290ca4ef0c6077a42c3cd9c5eeaa7fe912f89ca8cfa962d8756deda','{"closed_at":null,"fingerprint":"9cd9aa7ce051dcb7237c3f8db7d282e406e7587877496b705bc3580306850860","frontier":null,"listed":null,"opened_at":"2024-03-01T09:00:13.000000+00:00","policy":"name = \"discreet''s defaults\"\nlocked = []\n\n[small]  # Identification: counts so small that they point at a person.\nmost = 2  # counts from 1 to this are small\nwidth = 3  # beta: upper minus lower bound that every small count must keep\n\n[published]  # What a published table shows by itself, whatever else is in the file.\nleast = 3  # no published count from 1 to this less 1; 0 or 1 switches it off\nzeros = false  # is a published zero too small as well?\ntables = \"\"  # other least counts for some tables: `Sex*Town: 10; Ill: 5`\n\n[attribute]  # Attribute disclosure: what is learned of every member of a group.\ncheck = true  # is attribute disclosure checked?\nshare = 0.95  # a lower bound of this share of a group tells the category of its members\nexclusion = true  # does it count that a category is ruled out for a group?\norder = 4  # groups by up to this many variables are checked across margins\n\n[closeness]  # Bounds too close to the true count, whatever its size.\nshare = 0.0  # an interval must reach this share of a count away from it; 0 switches it off\n\n[tables]  # The number of tables that fit: the intruder''s doubt about the whole table.\nleast = 0  # at least so many tables must fit the release; 0 switches it off\nseconds = 10.0  # time to count them\n\n[belief]  # What an intruder believes: an interval can be wide and its true count nearly certain.\nmost = 0.0  # no true small count may be this probable or more; 0 switches it off\nidentified = 1.0  # at most this share of the small counts may be guessed right; 1 switches it off\nthreshold = 0.0  # an intruder acts on a guess of at least this probability\npeople = 0.0  # at most so many people identified, on average; 0 switches it off\ntrue_table = 1.0  # the true table may have at most this probability; 1 switches it off\nattribute = 0.0  # no group''s true category may be this probable or more; 0 switches it off\nentropy = 0.0  # nats that the belief about the table must keep; 0 switches it off\nzeros = false  # are zeros small counts too?\nmodel = \"saturated\"  # of the intruder: saturated, uniform, average, or a formula\nprior = 0.5  # Dirichlet parameter of each cell, above 0\nstandard_error = 0.002  # of sampled probabilities\nseconds = 60.0  # time for the beliefs\n\n[knowledge]  # What a table teaches about one person: the uncertainty that must be left.\ntarget = \"\"  # the variable that an intruder wants to know; empty switches it off\ngroup = \"\"  # what is known of the person: a variable, or A*B\nuncertainty = \"largest\"  # largest, entropy, variance, weighted:..., two-sided:A:B\nmeasure = \"knowledge\"  # knowledge: at least the limit is left; gain, relative-gain: at most it is gone\nlimit = 0.0  # of what is measured\n\n[sample]  # Data that are a sample: a small count may be large in the population.\ncheck = false  # are small counts guarded only if they are small in the population?\nchance = 0.05  # guarded from this probability on that the population count is small\nmodel = \"negative-binomial\"  # of population counts: negative-binomial or a formula\n\n[bounds]  # How intervals are found, and what is accepted as proof.\nmethod = \"auto\"  # auto, closed, shuttle, linear or integer\nproof = \"integer\"  # what must reach a width: integer (tables of whole numbers), linear (tables of fractions), outer (nothing)\nseconds = 600.0  # time for one set of linear or integer programs\nwitness_seconds = 60.0  # time to look for tables that prove a width; 0 switches it off\ngigabytes = 4.0  # memory for the shuttle\n\n[alternatives]  # What is offered when a release does not pass.\nnumber = 3  # how many to offer of each kind\nseconds = 60.0  # time for the search\n\n[server]  # What a table server answers, and how.\nrule = \"myopic\"  # static: a frontier chosen once; myopic: what is safe with all that is out; simulatable: what is safe as far as the public can tell\napproval = \"review\"  # what a custodian must approve: never (doubt is refused), review (doubt), always\none_way = true  # are the one-way margins out from the start?\ncurated = false  # can only margins be asked for that the custodian has listed?\nmax_order = 0  # most variables of a margin; 0: any number\ncells = 100000  # most cells of a table that is answered\nstep_variables = 0  # most variables of a request beyond a released margin in it; 0: any number\nstep_cells = 0  # most cells that a request may newly publish; 0: any number\nquota = 0  # new tables for one user in a day; 0: any number\ndelta = 0.05  # simulatable: most probability of an unsafe answer\ndraws = 400  # simulatable: tables drawn to judge a request\nslot = 0.0  # seconds: decisions by the data leave after this, or twice, four times, ... as much\n","policy_version":1,"previous":null,"title":"Workers","variables":[{"categories":["no","yes"],"name":"A"},{"categories":["no","yes"],"name":"B"},{"categories":["no","yes"],"name":"C"},{"categories":["< 140",">= 140"],"name":"D"},{"categories":["< 3",">= 3"],"name":"E"},{"categories":["negative","positive"],"name":"F"}]}',NULL,'0000000000000000000000000000000000000000000000000000000000000000','6373cb6aed0e896caee1e0df3cef501a0a80393bfd6b5726cf34da37461cb10d');
INSERT INTO "entries" VALUES(2,2,'2024-03-01T09:00:15.000000+00:00','published','public',NULL,'["A"]','granted','out',NULL,1,'960c69b54e34a1f3e7f98d01a8cdd313e097ea905c80f79045b9a30cf902995c',NULL,'25ab2299d93910a469f03e11b4ea9473b01e63758987be92d64495d0ba807dc8','6373cb6aed0e896caee1e0df3cef501a0a80393bfd6b5726cf34da37461cb10d','20e159c5538f29c8babbf01fafbd8756f920e36aad004b66b12f2d9793ca40a6');
INSERT INTO "entries" VALUES(2,3,'2024-03-01T09:00:16.000000+00:00','published','public',NULL,'["B"]','granted','out',NULL,1,'ccd50c4fc0c4cce2727ace57bc132253112b5263dc3b8c8ea9ce244db90372b5',NULL,'325ba6c380ccd31c7a2de888968ffa1b65aec2f4a43a6e4916bd6fc020f1146b','20e159c5538f29c8babbf01fafbd8756f920e36aad004b66b12f2d9793ca40a6','60178b343a7d94eeae46dfb78de117ad6d3b7191023fcec4120ad025e9f113a4');
INSERT INTO "entries" VALUES(2,4,'2024-03-01T09:00:17.000000+00:00','published','public',NULL,'["C"]','granted','out',NULL,1,'079be56314159111aad233a72c04cb6466bb10a0622c4bd8e42483617f2cc35c',NULL,'2d944cf3f89a2860df65c8286513ec575bd4e53f751b5f2311d46822ff766c8f','60178b343a7d94eeae46dfb78de117ad6d3b7191023fcec4120ad025e9f113a4','64dcd2920b6029a850b159ca064e712cfe5be159fbcba0a11fd16eb1490cd3d1');
INSERT INTO "entries" VALUES(2,5,'2024-03-01T09:00:18.000000+00:00','published','public',NULL,'["D"]','granted','out',NULL,1,'db2578a0bf36582e5cff174d3e9878eae8a885101b948c1839930ee2a6dbbbec',NULL,'e84f167e86f2e55e93256d62ef8ac570844f07c0be75452ff3ce500d74b3c06c','64dcd2920b6029a850b159ca064e712cfe5be159fbcba0a11fd16eb1490cd3d1','21f4830d710db102f267f40c28f03f5101532bce8ea6ae46db31d639f94a773c');
INSERT INTO "entries" VALUES(2,6,'2024-03-01T09:00:19.000000+00:00','published','public',NULL,'["E"]','granted','out',NULL,1,'111d3cd8f854106d700e48a4271dd0968450d8b3d1bd57edfed028f6b2795055',NULL,'fc1d901bac2ea7052507cc22325f3f60f4c111204ab98267eb74fb48fcbae802','21f4830d710db102f267f40c28f03f5101532bce8ea6ae46db31d639f94a773c','e2461e2aac4c8f5165c0de9b3df4167caec15ce17afd51a498c03a98bb3b25cc');
INSERT INTO "entries" VALUES(2,7,'2024-03-01T09:00:20.000000+00:00','published','public',NULL,'["F"]','granted','out',NULL,1,'7711728cdc52548df4eb5b1e867ae54437001f48891b64366b891627337613ff',NULL,'737052941161abeb2503b0c4887f8c0f1a6d35d2a9fd8fc094f9324024969644','e2461e2aac4c8f5165c0de9b3df4167caec15ce17afd51a498c03a98bb3b25cc','85baeab64d27966bedabe3352e65d83039c1588e9c5c213df0bab5e51dea3676');
INSERT INTO "entries" VALUES(2,8,'2024-03-01T09:00:21.000000+00:00','request','1',NULL,'["A","B"]','granted','safe',NULL,1,'a08b2d5a21b6836be42eb7fe7babbf7afb0c004609749979f1d8ca735388032d',NULL,'ba7a53907a2c718a4e8256805e1cb4be88bddd2eb67962a8ea5fb509bca9f917','85baeab64d27966bedabe3352e65d83039c1588e9c5c213df0bab5e51dea3676','e28d6432231c508b5495099b17409282a35a6e4ffb1b517a1793b60e43a0ed96');
INSERT INTO "entries" VALUES(2,9,'2024-03-01T09:00:22.000000+00:00','policy','1',NULL,NULL,NULL,NULL,'autumn',2,'a22496ebd857c3eb977b8fd934deb2acc5b6a79b387deec54962b89f783f5550','{"closed_at":null,"fingerprint":"9cd9aa7ce051dcb7237c3f8db7d282e406e7587877496b705bc3580306850860","frontier":null,"listed":null,"opened_at":"2024-03-01T09:00:13.000000+00:00","policy":"name = \"discreet''s defaults\"\nlocked = []\n\n[small]  # Identification: counts so small that they point at a person.\nmost = 2  # counts from 1 to this are small\nwidth = 3  # beta: upper minus lower bound that every small count must keep\n\n[published]  # What a published table shows by itself, whatever else is in the file.\nleast = 3  # no published count from 1 to this less 1; 0 or 1 switches it off\nzeros = false  # is a published zero too small as well?\ntables = \"\"  # other least counts for some tables: `Sex*Town: 10; Ill: 5`\n\n[attribute]  # Attribute disclosure: what is learned of every member of a group.\ncheck = true  # is attribute disclosure checked?\nshare = 0.95  # a lower bound of this share of a group tells the category of its members\nexclusion = true  # does it count that a category is ruled out for a group?\norder = 4  # groups by up to this many variables are checked across margins\n\n[closeness]  # Bounds too close to the true count, whatever its size.\nshare = 0.0  # an interval must reach this share of a count away from it; 0 switches it off\n\n[tables]  # The number of tables that fit: the intruder''s doubt about the whole table.\nleast = 0  # at least so many tables must fit the release; 0 switches it off\nseconds = 10.0  # time to count them\n\n[belief]  # What an intruder believes: an interval can be wide and its true count nearly certain.\nmost = 0.0  # no true small count may be this probable or more; 0 switches it off\nidentified = 1.0  # at most this share of the small counts may be guessed right; 1 switches it off\nthreshold = 0.0  # an intruder acts on a guess of at least this probability\npeople = 0.0  # at most so many people identified, on average; 0 switches it off\ntrue_table = 1.0  # the true table may have at most this probability; 1 switches it off\nattribute = 0.0  # no group''s true category may be this probable or more; 0 switches it off\nentropy = 0.0  # nats that the belief about the table must keep; 0 switches it off\nzeros = false  # are zeros small counts too?\nmodel = \"saturated\"  # of the intruder: saturated, uniform, average, or a formula\nprior = 0.5  # Dirichlet parameter of each cell, above 0\nstandard_error = 0.002  # of sampled probabilities\nseconds = 60.0  # time for the beliefs\n\n[knowledge]  # What a table teaches about one person: the uncertainty that must be left.\ntarget = \"\"  # the variable that an intruder wants to know; empty switches it off\ngroup = \"\"  # what is known of the person: a variable, or A*B\nuncertainty = \"largest\"  # largest, entropy, variance, weighted:..., two-sided:A:B\nmeasure = \"knowledge\"  # knowledge: at least the limit is left; gain, relative-gain: at most it is gone\nlimit = 0.0  # of what is measured\n\n[sample]  # Data that are a sample: a small count may be large in the population.\ncheck = false  # are small counts guarded only if they are small in the population?\nchance = 0.05  # guarded from this probability on that the population count is small\nmodel = \"negative-binomial\"  # of population counts: negative-binomial or a formula\n\n[bounds]  # How intervals are found, and what is accepted as proof.\nmethod = \"auto\"  # auto, closed, shuttle, linear or integer\nproof = \"integer\"  # what must reach a width: integer (tables of whole numbers), linear (tables of fractions), outer (nothing)\nseconds = 600.0  # time for one set of linear or integer programs\nwitness_seconds = 60.0  # time to look for tables that prove a width; 0 switches it off\ngigabytes = 4.0  # memory for the shuttle\n\n[alternatives]  # What is offered when a release does not pass.\nnumber = 3  # how many to offer of each kind\nseconds = 60.0  # time for the search\n\n[server]  # What a table server answers, and how.\nrule = \"myopic\"  # static: a frontier chosen once; myopic: what is safe with all that is out; simulatable: what is safe as far as the public can tell\napproval = \"always\"  # what a custodian must approve: never (doubt is refused), review (doubt), always\none_way = true  # are the one-way margins out from the start?\ncurated = false  # can only margins be asked for that the custodian has listed?\nmax_order = 0  # most variables of a margin; 0: any number\ncells = 100000  # most cells of a table that is answered\nstep_variables = 0  # most variables of a request beyond a released margin in it; 0: any number\nstep_cells = 0  # most cells that a request may newly publish; 0: any number\nquota = 0  # new tables for one user in a day; 0: any number\ndelta = 0.05  # simulatable: most probability of an unsafe answer\ndraws = 400  # simulatable: tables drawn to judge a request\nslot = 0.0  # seconds: decisions by the data leave after this, or twice, four times, ... as much\n","policy_version":2,"previous":null,"title":"Workers","variables":[{"categories":["no","yes"],"name":"A"},{"categories":["no","yes"],"name":"B"},{"categories":["no","yes"],"name":"C"},{"categories":["< 140",">= 140"],"name":"D"},{"categories":["< 3",">= 3"],"name":"E"},{"categories":["negative","positive"],"name":"F"}]}',NULL,'e28d6432231c508b5495099b17409282a35a6e4ffb1b517a1793b60e43a0ed96','96d2de5118083a9181465496553251a36b24c89ad96b89d8d9e39b12e4d0825a');
INSERT INTO "entries" VALUES(2,10,'2024-03-01T09:00:23.000000+00:00','request','public',NULL,'["C","D"]','pending','approval',NULL,2,'a22496ebd857c3eb977b8fd934deb2acc5b6a79b387deec54962b89f783f5550',NULL,NULL,'96d2de5118083a9181465496553251a36b24c89ad96b89d8d9e39b12e4d0825a','9ada9888479a67d8b60b33f833c9e092043980f7e164ca646e2cb354884e5ea9');
INSERT INTO "entries" VALUES(2,11,'2024-03-01T09:00:24.000000+00:00','request','public',NULL,'["D","E"]','pending','approval',NULL,2,'a22496ebd857c3eb977b8fd934deb2acc5b6a79b387deec54962b89f783f5550',NULL,NULL,'9ada9888479a67d8b60b33f833c9e092043980f7e164ca646e2cb354884e5ea9','5898f8f74e6529ff2e754acb197926f3cf6d02dce4c972118ccd20b5591d9696');
INSERT INTO "entries" VALUES(2,12,'2024-03-01T09:00:25.000000+00:00','request','public',NULL,'["E","F"]','pending','approval',NULL,2,'a22496ebd857c3eb977b8fd934deb2acc5b6a79b387deec54962b89f783f5550',NULL,NULL,'5898f8f74e6529ff2e754acb197926f3cf6d02dce4c972118ccd20b5591d9696','58ea55b21e01c13a654db70953895c803275cfa9c0881cf96c10ef6c7f904e9a');
INSERT INTO "entries" VALUES(2,13,'2024-03-01T09:00:26.000000+00:00','approved','1',10,'["C","D"]','granted','safe','for the yearbook',2,'932f535f023a455d0a59a8fd57208538e165a76f3a6d980a07adeb54ace2f41e',NULL,'48323d817dcb6d61eae51fbc7fb38a16a9f442a5352a62b5296627615b21d154','58ea55b21e01c13a654db70953895c803275cfa9c0881cf96c10ef6c7f904e9a','96bc41fc41eea7f763ff330d1adc7c8a4ac7d87db4ea39d1b9eb461f6909dd09');
INSERT INTO "entries" VALUES(2,14,'2024-03-01T09:00:27.000000+00:00','rejected','1',11,'["D","E"]','refused','rejected',NULL,2,'932f535f023a455d0a59a8fd57208538e165a76f3a6d980a07adeb54ace2f41e',NULL,NULL,'96bc41fc41eea7f763ff330d1adc7c8a4ac7d87db4ea39d1b9eb461f6909dd09','0508cd93ae98f810d973ce017108bf41efdf460f24d357df39842c4014964530');
INSERT INTO "entries" VALUES(2,15,'2024-03-01T09:00:28.000000+00:00','listed','1',NULL,NULL,NULL,NULL,NULL,2,'932f535f023a455d0a59a8fd57208538e165a76f3a6d980a07adeb54ace2f41e','{"closed_at":null,"fingerprint":"9cd9aa7ce051dcb7237c3f8db7d282e406e7587877496b705bc3580306850860","frontier":null,"listed":[["A","B","C"],["E","F"]],"opened_at":"2024-03-01T09:00:13.000000+00:00","policy":"name = \"discreet''s defaults\"\nlocked = []\n\n[small]  # Identification: counts so small that they point at a person.\nmost = 2  # counts from 1 to this are small\nwidth = 3  # beta: upper minus lower bound that every small count must keep\n\n[published]  # What a published table shows by itself, whatever else is in the file.\nleast = 3  # no published count from 1 to this less 1; 0 or 1 switches it off\nzeros = false  # is a published zero too small as well?\ntables = \"\"  # other least counts for some tables: `Sex*Town: 10; Ill: 5`\n\n[attribute]  # Attribute disclosure: what is learned of every member of a group.\ncheck = true  # is attribute disclosure checked?\nshare = 0.95  # a lower bound of this share of a group tells the category of its members\nexclusion = true  # does it count that a category is ruled out for a group?\norder = 4  # groups by up to this many variables are checked across margins\n\n[closeness]  # Bounds too close to the true count, whatever its size.\nshare = 0.0  # an interval must reach this share of a count away from it; 0 switches it off\n\n[tables]  # The number of tables that fit: the intruder''s doubt about the whole table.\nleast = 0  # at least so many tables must fit the release; 0 switches it off\nseconds = 10.0  # time to count them\n\n[belief]  # What an intruder believes: an interval can be wide and its true count nearly certain.\nmost = 0.0  # no true small count may be this probable or more; 0 switches it off\nidentified = 1.0  # at most this share of the small counts may be guessed right; 1 switches it off\nthreshold = 0.0  # an intruder acts on a guess of at least this probability\npeople = 0.0  # at most so many people identified, on average; 0 switches it off\ntrue_table = 1.0  # the true table may have at most this probability; 1 switches it off\nattribute = 0.0  # no group''s true category may be this probable or more; 0 switches it off\nentropy = 0.0  # nats that the belief about the table must keep; 0 switches it off\nzeros = false  # are zeros small counts too?\nmodel = \"saturated\"  # of the intruder: saturated, uniform, average, or a formula\nprior = 0.5  # Dirichlet parameter of each cell, above 0\nstandard_error = 0.002  # of sampled probabilities\nseconds = 60.0  # time for the beliefs\n\n[knowledge]  # What a table teaches about one person: the uncertainty that must be left.\ntarget = \"\"  # the variable that an intruder wants to know; empty switches it off\ngroup = \"\"  # what is known of the person: a variable, or A*B\nuncertainty = \"largest\"  # largest, entropy, variance, weighted:..., two-sided:A:B\nmeasure = \"knowledge\"  # knowledge: at least the limit is left; gain, relative-gain: at most it is gone\nlimit = 0.0  # of what is measured\n\n[sample]  # Data that are a sample: a small count may be large in the population.\ncheck = false  # are small counts guarded only if they are small in the population?\nchance = 0.05  # guarded from this probability on that the population count is small\nmodel = \"negative-binomial\"  # of population counts: negative-binomial or a formula\n\n[bounds]  # How intervals are found, and what is accepted as proof.\nmethod = \"auto\"  # auto, closed, shuttle, linear or integer\nproof = \"integer\"  # what must reach a width: integer (tables of whole numbers), linear (tables of fractions), outer (nothing)\nseconds = 600.0  # time for one set of linear or integer programs\nwitness_seconds = 60.0  # time to look for tables that prove a width; 0 switches it off\ngigabytes = 4.0  # memory for the shuttle\n\n[alternatives]  # What is offered when a release does not pass.\nnumber = 3  # how many to offer of each kind\nseconds = 60.0  # time for the search\n\n[server]  # What a table server answers, and how.\nrule = \"myopic\"  # static: a frontier chosen once; myopic: what is safe with all that is out; simulatable: what is safe as far as the public can tell\napproval = \"always\"  # what a custodian must approve: never (doubt is refused), review (doubt), always\none_way = true  # are the one-way margins out from the start?\ncurated = false  # can only margins be asked for that the custodian has listed?\nmax_order = 0  # most variables of a margin; 0: any number\ncells = 100000  # most cells of a table that is answered\nstep_variables = 0  # most variables of a request beyond a released margin in it; 0: any number\nstep_cells = 0  # most cells that a request may newly publish; 0: any number\nquota = 0  # new tables for one user in a day; 0: any number\ndelta = 0.05  # simulatable: most probability of an unsafe answer\ndraws = 400  # simulatable: tables drawn to judge a request\nslot = 0.0  # seconds: decisions by the data leave after this, or twice, four times, ... as much\n","policy_version":2,"previous":null,"title":"Workers","variables":[{"categories":["no","yes"],"name":"A"},{"categories":["no","yes"],"name":"B"},{"categories":["no","yes"],"name":"C"},{"categories":["< 140",">= 140"],"name":"D"},{"categories":["< 3",">= 3"],"name":"E"},{"categories":["negative","positive"],"name":"F"}]}',NULL,'0508cd93ae98f810d973ce017108bf41efdf460f24d357df39842c4014964530','d63bfb8349e34597ffd0ce322e261a1cee60ab9c99e69e5b0ce888f65c866d3a');
INSERT INTO "entries" VALUES(3,1,'2024-03-01T09:00:30.000000+00:00','opened','public',NULL,NULL,NULL,NULL,NULL,1,'5e775d26b046f69d8b6bdcc0b8036eee25c2a5a462a96eff065c766a1ea66faf','{"closed_at":null,"fingerprint":"a3e490f84956536f8ca169513f1813417207b3b241c88e95248060faff31f3c3","frontier":[["Sex"],["Town"]],"listed":null,"opened_at":"2024-03-01T09:00:29.000000+00:00","policy":"name = \"discreet''s defaults\"\nlocked = []\n\n[small]  # Identification: counts so small that they point at a person.\nmost = 2  # counts from 1 to this are small\nwidth = 3  # beta: upper minus lower bound that every small count must keep\n\n[published]  # What a published table shows by itself, whatever else is in the file.\nleast = 3  # no published count from 1 to this less 1; 0 or 1 switches it off\nzeros = false  # is a published zero too small as well?\ntables = \"\"  # other least counts for some tables: `Sex*Town: 10; Ill: 5`\n\n[attribute]  # Attribute disclosure: what is learned of every member of a group.\ncheck = true  # is attribute disclosure checked?\nshare = 0.95  # a lower bound of this share of a group tells the category of its members\nexclusion = true  # does it count that a category is ruled out for a group?\norder = 4  # groups by up to this many variables are checked across margins\n\n[closeness]  # Bounds too close to the true count, whatever its size.\nshare = 0.0  # an interval must reach this share of a count away from it; 0 switches it off\n\n[tables]  # The number of tables that fit: the intruder''s doubt about the whole table.\nleast = 0  # at least so many tables must fit the release; 0 switches it off\nseconds = 10.0  # time to count them\n\n[belief]  # What an intruder believes: an interval can be wide and its true count nearly certain.\nmost = 0.0  # no true small count may be this probable or more; 0 switches it off\nidentified = 1.0  # at most this share of the small counts may be guessed right; 1 switches it off\nthreshold = 0.0  # an intruder acts on a guess of at least this probability\npeople = 0.0  # at most so many people identified, on average; 0 switches it off\ntrue_table = 1.0  # the true table may have at most this probability; 1 switches it off\nattribute = 0.0  # no group''s true category may be this probable or more; 0 switches it off\nentropy = 0.0  # nats that the belief about the table must keep; 0 switches it off\nzeros = false  # are zeros small counts too?\nmodel = \"saturated\"  # of the intruder: saturated, uniform, average, or a formula\nprior = 0.5  # Dirichlet parameter of each cell, above 0\nstandard_error = 0.002  # of sampled probabilities\nseconds = 60.0  # time for the beliefs\n\n[knowledge]  # What a table teaches about one person: the uncertainty that must be left.\ntarget = \"\"  # the variable that an intruder wants to know; empty switches it off\ngroup = \"\"  # what is known of the person: a variable, or A*B\nuncertainty = \"largest\"  # largest, entropy, variance, weighted:..., two-sided:A:B\nmeasure = \"knowledge\"  # knowledge: at least the limit is left; gain, relative-gain: at most it is gone\nlimit = 0.0  # of what is measured\n\n[sample]  # Data that are a sample: a small count may be large in the population.\ncheck = false  # are small counts guarded only if they are small in the population?\nchance = 0.05  # guarded from this probability on that the population count is small\nmodel = \"negative-binomial\"  # of population counts: negative-binomial or a formula\n\n[bounds]  # How intervals are found, and what is accepted as proof.\nmethod = \"auto\"  # auto, closed, shuttle, linear or integer\nproof = \"integer\"  # what must reach a width: integer (tables of whole numbers), linear (tables of fractions), outer (nothing)\nseconds = 600.0  # time for one set of linear or integer programs\nwitness_seconds = 60.0  # time to look for tables that prove a width; 0 switches it off\ngigabytes = 4.0  # memory for the shuttle\n\n[alternatives]  # What is offered when a release does not pass.\nnumber = 3  # how many to offer of each kind\nseconds = 60.0  # time for the search\n\n[server]  # What a table server answers, and how.\nrule = \"static\"  # static: a frontier chosen once; myopic: what is safe with all that is out; simulatable: what is safe as far as the public can tell\napproval = \"review\"  # what a custodian must approve: never (doubt is refused), review (doubt), always\none_way = true  # are the one-way margins out from the start?\ncurated = false  # can only margins be asked for that the custodian has listed?\nmax_order = 0  # most variables of a margin; 0: any number\ncells = 100000  # most cells of a table that is answered\nstep_variables = 0  # most variables of a request beyond a released margin in it; 0: any number\nstep_cells = 0  # most cells that a request may newly publish; 0: any number\nquota = 0  # new tables for one user in a day; 0: any number\ndelta = 0.05  # simulatable: most probability of an unsafe answer\ndraws = 400  # simulatable: tables drawn to judge a request\nslot = 0.25  # seconds: decisions by the data leave after this, or twice, four times, ... as much\n","policy_version":1,"previous":null,"title":"people-2025","variables":[{"categories":["F","M"],"name":"Sex"},{"categories":["N","S"],"name":"Town"}]}',NULL,'0000000000000000000000000000000000000000000000000000000000000000','a2eda99883ddaa72588244e6c178f693ef60bfc3a1c85c77e5d0c57f65d72636');
INSERT INTO "entries" VALUES(3,2,'2024-03-01T09:00:31.000000+00:00','published','public',NULL,'["Sex"]','granted','out',NULL,1,'7149c2ae561fd2ecf070c4a41af3df0d43b1ef995b11f2d9eb29401d67dcebb2',NULL,'d46994e79c75e6a60b350629da9510e82650de74b49921fcdfa7b3709d9a550f','a2eda99883ddaa72588244e6c178f693ef60bfc3a1c85c77e5d0c57f65d72636','60f5b9da88099f0e419a5277e165fd835aed7a4559f069c5305a544fc416606b');
INSERT INTO "entries" VALUES(3,3,'2024-03-01T09:00:32.000000+00:00','published','public',NULL,'["Town"]','granted','out',NULL,1,'4f23c9f1852da1f80ddff218b3cf7e0cad7c2c12c618f88fb63e3bcbbd765641',NULL,'353df3e3ab7e8c511e15bbefc370ee819510c1d9fb9784f033d2d484c2b66cc6','60f5b9da88099f0e419a5277e165fd835aed7a4559f069c5305a544fc416606b','e8f07e4e22410ab8fe64410c05886e80c08927631d670a04d34e63cc632401e3');
INSERT INTO "entries" VALUES(3,4,'2024-03-01T09:00:34.000000+00:00','closed','public',NULL,NULL,NULL,NULL,'the newer vintage people-2026 is open',1,'4f23c9f1852da1f80ddff218b3cf7e0cad7c2c12c618f88fb63e3bcbbd765641','{"closed_at":"2024-03-01T09:00:33.000000+00:00","fingerprint":"a3e490f84956536f8ca169513f1813417207b3b241c88e95248060faff31f3c3","frontier":[["Sex"],["Town"]],"listed":null,"opened_at":"2024-03-01T09:00:29.000000+00:00","policy":"name = \"discreet''s defaults\"\nlocked = []\n\n[small]  # Identification: counts so small that they point at a person.\nmost = 2  # counts from 1 to this are small\nwidth = 3  # beta: upper minus lower bound that every small count must keep\n\n[published]  # What a published table shows by itself, whatever else is in the file.\nleast = 3  # no published count from 1 to this less 1; 0 or 1 switches it off\nzeros = false  # is a published zero too small as well?\ntables = \"\"  # other least counts for some tables: `Sex*Town: 10; Ill: 5`\n\n[attribute]  # Attribute disclosure: what is learned of every member of a group.\ncheck = true  # is attribute disclosure checked?\nshare = 0.95  # a lower bound of this share of a group tells the category of its members\nexclusion = true  # does it count that a category is ruled out for a group?\norder = 4  # groups by up to this many variables are checked across margins\n\n[closeness]  # Bounds too close to the true count, whatever its size.\nshare = 0.0  # an interval must reach this share of a count away from it; 0 switches it off\n\n[tables]  # The number of tables that fit: the intruder''s doubt about the whole table.\nleast = 0  # at least so many tables must fit the release; 0 switches it off\nseconds = 10.0  # time to count them\n\n[belief]  # What an intruder believes: an interval can be wide and its true count nearly certain.\nmost = 0.0  # no true small count may be this probable or more; 0 switches it off\nidentified = 1.0  # at most this share of the small counts may be guessed right; 1 switches it off\nthreshold = 0.0  # an intruder acts on a guess of at least this probability\npeople = 0.0  # at most so many people identified, on average; 0 switches it off\ntrue_table = 1.0  # the true table may have at most this probability; 1 switches it off\nattribute = 0.0  # no group''s true category may be this probable or more; 0 switches it off\nentropy = 0.0  # nats that the belief about the table must keep; 0 switches it off\nzeros = false  # are zeros small counts too?\nmodel = \"saturated\"  # of the intruder: saturated, uniform, average, or a formula\nprior = 0.5  # Dirichlet parameter of each cell, above 0\nstandard_error = 0.002  # of sampled probabilities\nseconds = 60.0  # time for the beliefs\n\n[knowledge]  # What a table teaches about one person: the uncertainty that must be left.\ntarget = \"\"  # the variable that an intruder wants to know; empty switches it off\ngroup = \"\"  # what is known of the person: a variable, or A*B\nuncertainty = \"largest\"  # largest, entropy, variance, weighted:..., two-sided:A:B\nmeasure = \"knowledge\"  # knowledge: at least the limit is left; gain, relative-gain: at most it is gone\nlimit = 0.0  # of what is measured\n\n[sample]  # Data that are a sample: a small count may be large in the population.\ncheck = false  # are small counts guarded only if they are small in the population?\nchance = 0.05  # guarded from this probability on that the population count is small\nmodel = \"negative-binomial\"  # of population counts: negative-binomial or a formula\n\n[bounds]  # How intervals are found, and what is accepted as proof.\nmethod = \"auto\"  # auto, closed, shuttle, linear or integer\nproof = \"integer\"  # what must reach a width: integer (tables of whole numbers), linear (tables of fractions), outer (nothing)\nseconds = 600.0  # time for one set of linear or integer programs\nwitness_seconds = 60.0  # time to look for tables that prove a width; 0 switches it off\ngigabytes = 4.0  # memory for the shuttle\n\n[alternatives]  # What is offered when a release does not pass.\nnumber = 3  # how many to offer of each kind\nseconds = 60.0  # time for the search\n\n[server]  # What a table server answers, and how.\nrule = \"static\"  # static: a frontier chosen once; myopic: what is safe with all that is out; simulatable: what is safe as far as the public can tell\napproval = \"review\"  # what a custodian must approve: never (doubt is refused), review (doubt), always\none_way = true  # are the one-way margins out from the start?\ncurated = false  # can only margins be asked for that the custodian has listed?\nmax_order = 0  # most variables of a margin; 0: any number\ncells = 100000  # most cells of a table that is answered\nstep_variables = 0  # most variables of a request beyond a released margin in it; 0: any number\nstep_cells = 0  # most cells that a request may newly publish; 0: any number\nquota = 0  # new tables for one user in a day; 0: any number\ndelta = 0.05  # simulatable: most probability of an unsafe answer\ndraws = 400  # simulatable: tables drawn to judge a request\nslot = 0.25  # seconds: decisions by the data leave after this, or twice, four times, ... as much\n","policy_version":1,"previous":null,"title":"people-2025","variables":[{"categories":["F","M"],"name":"Sex"},{"categories":["N","S"],"name":"Town"}]}',NULL,'e8f07e4e22410ab8fe64410c05886e80c08927631d670a04d34e63cc632401e3','85cd6d20a15f735bb4f8ca0fbd6fcddc248c005f7a55ea209c1b850809a78b35');
INSERT INTO "entries" VALUES(4,1,'2024-03-01T09:00:36.000000+00:00','opened','public',NULL,NULL,NULL,NULL,NULL,1,'61172d45042d6670c10fd6a02a6a651c464031d6a8fea9a37d315048751995c0','{"closed_at":null,"fingerprint":"348bd42e97d0dddc286d90cf3140bef61133f0540e4123a0200e5aef40343585","frontier":[["Sex"],["Town"]],"listed":null,"opened_at":"2024-03-01T09:00:35.000000+00:00","policy":"name = \"discreet''s defaults\"\nlocked = []\n\n[small]  # Identification: counts so small that they point at a person.\nmost = 2  # counts from 1 to this are small\nwidth = 3  # beta: upper minus lower bound that every small count must keep\n\n[published]  # What a published table shows by itself, whatever else is in the file.\nleast = 3  # no published count from 1 to this less 1; 0 or 1 switches it off\nzeros = false  # is a published zero too small as well?\ntables = \"\"  # other least counts for some tables: `Sex*Town: 10; Ill: 5`\n\n[attribute]  # Attribute disclosure: what is learned of every member of a group.\ncheck = true  # is attribute disclosure checked?\nshare = 0.95  # a lower bound of this share of a group tells the category of its members\nexclusion = true  # does it count that a category is ruled out for a group?\norder = 4  # groups by up to this many variables are checked across margins\n\n[closeness]  # Bounds too close to the true count, whatever its size.\nshare = 0.0  # an interval must reach this share of a count away from it; 0 switches it off\n\n[tables]  # The number of tables that fit: the intruder''s doubt about the whole table.\nleast = 0  # at least so many tables must fit the release; 0 switches it off\nseconds = 10.0  # time to count them\n\n[belief]  # What an intruder believes: an interval can be wide and its true count nearly certain.\nmost = 0.0  # no true small count may be this probable or more; 0 switches it off\nidentified = 1.0  # at most this share of the small counts may be guessed right; 1 switches it off\nthreshold = 0.0  # an intruder acts on a guess of at least this probability\npeople = 0.0  # at most so many people identified, on average; 0 switches it off\ntrue_table = 1.0  # the true table may have at most this probability; 1 switches it off\nattribute = 0.0  # no group''s true category may be this probable or more; 0 switches it off\nentropy = 0.0  # nats that the belief about the table must keep; 0 switches it off\nzeros = false  # are zeros small counts too?\nmodel = \"saturated\"  # of the intruder: saturated, uniform, average, or a formula\nprior = 0.5  # Dirichlet parameter of each cell, above 0\nstandard_error = 0.002  # of sampled probabilities\nseconds = 60.0  # time for the beliefs\n\n[knowledge]  # What a table teaches about one person: the uncertainty that must be left.\ntarget = \"\"  # the variable that an intruder wants to know; empty switches it off\ngroup = \"\"  # what is known of the person: a variable, or A*B\nuncertainty = \"largest\"  # largest, entropy, variance, weighted:..., two-sided:A:B\nmeasure = \"knowledge\"  # knowledge: at least the limit is left; gain, relative-gain: at most it is gone\nlimit = 0.0  # of what is measured\n\n[sample]  # Data that are a sample: a small count may be large in the population.\ncheck = false  # are small counts guarded only if they are small in the population?\nchance = 0.05  # guarded from this probability on that the population count is small\nmodel = \"negative-binomial\"  # of population counts: negative-binomial or a formula\n\n[bounds]  # How intervals are found, and what is accepted as proof.\nmethod = \"auto\"  # auto, closed, shuttle, linear or integer\nproof = \"integer\"  # what must reach a width: integer (tables of whole numbers), linear (tables of fractions), outer (nothing)\nseconds = 600.0  # time for one set of linear or integer programs\nwitness_seconds = 60.0  # time to look for tables that prove a width; 0 switches it off\ngigabytes = 4.0  # memory for the shuttle\n\n[alternatives]  # What is offered when a release does not pass.\nnumber = 3  # how many to offer of each kind\nseconds = 60.0  # time for the search\n\n[server]  # What a table server answers, and how.\nrule = \"static\"  # static: a frontier chosen once; myopic: what is safe with all that is out; simulatable: what is safe as far as the public can tell\napproval = \"review\"  # what a custodian must approve: never (doubt is refused), review (doubt), always\none_way = true  # are the one-way margins out from the start?\ncurated = false  # can only margins be asked for that the custodian has listed?\nmax_order = 0  # most variables of a margin; 0: any number\ncells = 100000  # most cells of a table that is answered\nstep_variables = 0  # most variables of a request beyond a released margin in it; 0: any number\nstep_cells = 0  # most cells that a request may newly publish; 0: any number\nquota = 0  # new tables for one user in a day; 0: any number\ndelta = 0.05  # simulatable: most probability of an unsafe answer\ndraws = 400  # simulatable: tables drawn to judge a request\nslot = 0.25  # seconds: decisions by the data leave after this, or twice, four times, ... as much\n","policy_version":1,"previous":"people-2025","title":"people-2026","variables":[{"categories":["F","M"],"name":"Sex"},{"categories":["N","S"],"name":"Town"}]}',NULL,'0000000000000000000000000000000000000000000000000000000000000000','6ece4b5bd332c91359b47b43ceade2e65b234da3a40dc37f5d469059cea684b9');
INSERT INTO "entries" VALUES(4,2,'2024-03-01T09:00:37.000000+00:00','published','public',NULL,'["Sex"]','granted','out',NULL,1,'485fb45869e6ee7468dd1b3273fabbd1fd08542f8c2d0e5006e25843f03fe003',NULL,'01a91db7b1eaef4d5c32ed7ab84004ddc41d1a0804a618006dcfc13d49fd8656','6ece4b5bd332c91359b47b43ceade2e65b234da3a40dc37f5d469059cea684b9','a30c47e43b0146d8622eeb660cd8688b9b3f0e13bab1e2b62fdd1db9948741dd');
INSERT INTO "entries" VALUES(4,3,'2024-03-01T09:00:38.000000+00:00','published','public',NULL,'["Town"]','granted','out',NULL,1,'09bc89a4c079d3eb96514c149b123d33a0f96a7251cbe944647ebc61e8b7847c',NULL,'7c1f5f978ea18a614417b25eeea4e49a653c01a5cb059a32d246970b4666e33b','a30c47e43b0146d8622eeb660cd8688b9b3f0e13bab1e2b62fdd1db9948741dd','3d86ffd0277e82833dd09a977348220023685c4e35bde750ad2b1dd77567fccb');
CREATE TABLE publications (
	dataset_id INTEGER NOT NULL, 
	entry_number INTEGER NOT NULL, 
	margin TEXT NOT NULL, 
	counts BLOB NOT NULL, 
	table_hash TEXT NOT NULL, 
	withdrawn_at TEXT, 
	withdrawn_why TEXT, 
	CONSTRAINT pk_publications PRIMARY KEY (dataset_id, entry_number), 
	CONSTRAINT fk_publications_dataset_id FOREIGN KEY(dataset_id, entry_number) REFERENCES entries (dataset_id, number)
);
INSERT INTO "publications" VALUES(1,2,'["Gender"]',X'789C4B6164008326280D000A7600E9','78130310a23511edd1f13819068dfb32e1bd186c8dbbc8ddd22eb01b7a046e20',NULL,NULL);
INSERT INTO "publications" VALUES(1,3,'["Race"]',X'789CDBCAC400063A108A81154A0300142600E9','e9cabd25cab5d65ea379a303d07969d761c4276f600178aa18540c7da5dc15b6',NULL,NULL);
INSERT INTO "publications" VALUES(1,4,'["Income"]',X'789C3360640083EB108AE13E940600191701E8','fa06d6c567af5e35233d6cc8f34d953fabb996515addef28e3552e0ef29e9ed0',NULL,NULL);
INSERT INTO "publications" VALUES(1,5,'["Gender","Income"]',X'789CCB6680800028BD124A1F85D2ED50DA0C4A0300527802E7','7baed98dee2f40d0c60eab3b86a17825e95ec7a8344736c9fd3bd54d4c1bd994','2024-03-01T09:00:12.000000+00:00','a coding error');
INSERT INTO "publications" VALUES(2,2,'["A"]',X'789C3BC8CC000605501A000FE20138','25ab2299d93910a469f03e11b4ea9473b01e63758987be92d64495d0ba807dc8',NULL,NULL);
INSERT INTO "publications" VALUES(2,3,'["B"]',X'789C53676100032E66080D0003210039','325ba6c380ccd31c7a2de888968ffa1b65aec2f4a43a6e4916bd6fc020f1146b',NULL,NULL);
INSERT INTO "publications" VALUES(2,4,'["C"]',X'789C9BCFCC000693A034000ED20138','2d944cf3f89a2860df65c8286513ec575bd4e53f751b5f2311d46822ff766c8f',NULL,NULL);
INSERT INTO "publications" VALUES(2,5,'["D"]',X'789C93636100036166080D0002D90039','e84f167e86f2e55e93256d62ef8ac570844f07c0be75452ff3ce500d74b3c06c',NULL,NULL);
INSERT INTO "publications" VALUES(2,6,'["E"]',X'789C53656100031E66080D0003110039','fc1d901bac2ea7052507cc22325f3f60f4c111204ab98267eb74fb48fcbae802',NULL,NULL);
INSERT INTO "publications" VALUES(2,7,'["F"]',X'789CD3656300031646080D0003610039','737052941161abeb2503b0c4887f8c0f1a6d35d2a9fd8fc094f9324024969644',NULL,NULL);
INSERT INTO "publications" VALUES(2,8,'["A","B"]',X'789CE362620083ED8C105A16CA0F86F201176A0138','ba7a53907a2c718a4e8256805e1cb4be88bddd2eb67962a8ea5fb509bca9f917',NULL,NULL);
INSERT INTO "publications" VALUES(2,13,'["C","D"]',X'789C13636200834E4608CD01E57741F90015020138','48323d817dcb6d61eae51fbc7fb38a16a9f442a5352a62b5296627615b21d154',NULL,NULL);
INSERT INTO "publications" VALUES(3,2,'["Sex"]',X'789CBBCF000167A13400146801AD','d46994e79c75e6a60b350629da9510e82650de74b49921fcdfa7b3709d9a550f',NULL,NULL);
INSERT INTO "publications" VALUES(3,3,'["Town"]',X'789CFBC900019BA13400153801AD','353df3e3ab7e8c511e15bbefc370ee819510c1d9fb9784f033d2d484c2b66cc6',NULL,NULL);
INSERT INTO "publications" VALUES(4,2,'["Sex"]',X'789C93616400035E280D00024E002C','01a91db7b1eaef4d5c32ed7ab84004ddc41d1a0804a618006dcfc13d49fd8656',NULL,NULL);
INSERT INTO "publications" VALUES(4,3,'["Town"]',X'789CB3606400838F108A01000B27012B','7c1f5f978ea18a614417b25eeea4e49a653c01a5cb059a32d246970b4666e33b',NULL,NULL);
CREATE TABLE sessions (
	id TEXT NOT NULL, 
	user_id INTEGER NOT NULL, 
	created_at TEXT NOT NULL, 
	expires_at TEXT NOT NULL, 
	csrf TEXT NOT NULL, 
	CONSTRAINT pk_sessions PRIMARY KEY (id), 
	CONSTRAINT fk_sessions_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);
CREATE TABLE users (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	password_hash TEXT, 
	active BOOLEAN NOT NULL, 
	created_at TEXT NOT NULL, 
	CONSTRAINT uq_users_name UNIQUE (name)
);
INSERT INTO "users" VALUES(1,'maria','custodian','$argon2id$v=19$m=8,t=1,p=1$WIpv/FXnN/CaSpSpn3l2Iw$q3QEETSdeeZocpmt2A87p0ILFB+KXeasY3DPH0IYWBE',1,'2024-03-01T09:00:01.000000+00:00');
INSERT INTO "users" VALUES(2,'otto','auditor','$argon2id$v=19$m=8,t=1,p=1$ev9ea26QrlWbesat3eTqpg$tZ5kD+NIXXARVAI2vGI+MftZ0wyMQLGAec0AYye3oSM',1,'2024-03-01T09:00:02.000000+00:00');
CREATE TABLE uses (
	dataset_id INTEGER NOT NULL, 
	day TEXT NOT NULL, 
	what TEXT NOT NULL, 
	n INTEGER NOT NULL, 
	CONSTRAINT pk_uses PRIMARY KEY (dataset_id, day, what), 
	CONSTRAINT fk_uses_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id)
);
CREATE INDEX ix_api_keys_user_id ON api_keys (user_id);
CREATE INDEX ix_sessions_user_id ON sessions (user_id);
CREATE TRIGGER entries_are_not_updated BEFORE UPDATE ON entries FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER entries_are_not_deleted BEFORE DELETE ON entries FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER publications_are_not_updated BEFORE UPDATE OF dataset_id, entry_number, margin, counts, table_hash ON publications FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER publications_are_withdrawn_once BEFORE UPDATE ON publications FOR EACH ROW WHEN (OLD.withdrawn_at IS NOT NULL) BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER publications_are_not_deleted BEFORE DELETE ON publications FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER datasets_are_not_deleted BEFORE DELETE ON datasets FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('users',2);
INSERT INTO "sqlite_sequence" VALUES('api_keys',1);
INSERT INTO "sqlite_sequence" VALUES('datasets',4);
COMMIT;
