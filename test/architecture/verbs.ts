/** The verbs with which names of functions begin. Add one where none of these fits. */

/** `to` converts, `on` handles an event; verbs in the third person return a boolean. */
export const verbs: ReadonlySet<string> = new Set(
  `add adjust admit answer append apply are arrange ask assert attempt await begin begins bind build can
  capitalize catch change charge check choose claim clamp classify clear clone close collect combine commit
  compare complete compose compress compute confirm connect contains continue convert copy count create cut
  decide decode deduct defer define deliver demand derive describe detect digest draft drain draw drop dry encode end
  ensure equals escape estimate evaluate extract fail fetch filter find finish fits flatten flip flush fold
  follow forget forgive format gather generate get give gives greet group grow guard hand handle has hash have
  hide hold holds honours identify ignore import index inflect insert inspect intersect is join keep lacks
  leave leaves link list listen load locate lock log look looks make map mark match matches may measure merge
  migrate move must name narrow negotiate normalize note notify observe obtain omit on open pad parse pass
  patch peek pick place plan poll postpone prefers prepare price print put queue quote rank rate read recall
  record redact refer refine refresh refund refuse register release remove rename renew reopen repair replace
  replay reply report request require reserve resolve respond restore retry revoke rewrite round run save say
  schedule search select send serve set settle share shift shorten show sign slice sniff sort split spool
  start stem step sum summarize survive swap sweep sync take test throw tidy tighten to track transcode translate
  trim try turn understand unguard unpack unrank unwrap update use vacuum verify vouches wait wake walk warn
  weigh withdraw withhold wrap write`.split(/\s+/),
);

/** Functions that create a schema are named after what it describes, like those of zod. */
export const schemas: Readonly<Record<string, readonly string[]>> = {
  'src/http/request/prefixed.ts': ['prefixedParameters'],
  'src/http/schema.ts': [
    'idFilter',
    'identifier',
    'integerParameter',
    'numberParameter',
    'prose',
    'text',
    'timestamp',
  ],
  'src/media/endpoints.ts': ['sizeParameter'],
  'src/settings/values.ts': ['integer'],
  'src/resources/authored/schema.ts': ['jsonLinks', 'url'],
};
