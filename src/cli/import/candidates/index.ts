/** Reads unchecked candidates for products from a file: one per record, or with a preset one per group of rows. */
import { type Mapping, pickMember, productFields } from '../../../files/cells/map.ts';
import { createRecordMapper, findRepeatedAttribute, type Mapper } from '../../../files/cells/mapper.ts';
import { amountFields, findColumnCurrency, findPriceColumns } from '../../../files/cells/price-columns.ts';
import type { SourceRecord } from '../../../files/read.ts';
import { readExportIdentity } from '../../../resources/products/import/identity.ts';
import type { ImportArguments } from '../options.ts';
import { readTemplateColumns } from '../presets/feeds/template.ts';
import { formatJsonProposal, formatProposal, refuseUnreadable } from '../presets/index.ts';
import { addIdentity } from '../repeats.ts';
import { checkArray, type ImportSource } from '../source.ts';
import { type Candidate, type Notices, requireMapped } from './candidate.ts';
import { createMarkWatch } from './marks.ts';
import { readRowCandidates } from './rows.ts';

/** @param again opens the same file again, from its beginning */
export async function* readCandidates(
  source: ImportSource,
  again: () => Promise<ImportSource>,
  given: ImportArguments,
  notices: Notices,
): AsyncGenerator<readonly Candidate[]> {
  const { watch, describe } = createMarkWatch();
  const request = { ...given, cells: { ...given.cells, watch } };
  yield* request.preset === undefined
    ? readRecordCandidates(source, request, notices)
    : readRowCandidates(source, again, request, request.preset, notices);
  const remark = describe();
  if (remark !== undefined) notices.say(remark);
}

async function* readRecordCandidates(
  source: ImportSource,
  request: ImportArguments,
  notices: Notices,
): AsyncGenerator<readonly Candidate[]> {
  let { mapping } = request;
  let mapper = createRecordMapper(request);
  let position = 0;
  let looked = false;
  const members = createMemberWatch(request);
  for await (const batch of source.records) {
    const candidates: Candidate[] = [];
    for (const record of batch) {
      position += 1;
      notices.rows = position;
      members.watch(record);
      if (record.fatal === true) {
        const proposal = formatProposal(
          request.fileName,
          (await readTemplateColumns(record, request.file)) ?? [],
        );
        throw new Error(proposal || `line ${record.line} ${record.error}`);
      }
      if (position === 1 && source.format === 'json') await checkArray(record, request);
      if (!looked && record.value !== undefined) {
        const template = await readTemplateColumns(record, request.file);
        const columns = template ?? record.columns;
        const proposal =
          columns === undefined
            ? formatJsonProposal(request.fileName, record.value)
            : formatProposal(request.fileName, columns);
        refuseUnreadable(request.fileName, record.columns ?? []);
        mapping = addPriceColumns(record, request);
        mapper = createRecordMapper({ ...request, mapping });
        checkColumns(record, { ...request, mapping }, proposal);
        sayCurrencies(mapping, request, notices);
        if (proposal !== '') notices.say(proposal);
        if (record.columns !== undefined) notices.unused = mapper.unused(record.columns);
        looked = true;
      }
      candidates.push(toCandidate(record, position, mapping, mapper));
      noteCommas(record, mapping, request, notices);
    }
    yield candidates;
  }
  for (const line of members.describe()) notices.say(line);
  if (members.names.size > 0) notices.unused = mapper.unusedMembers([...members.names]);
}

/** Adds the columns of amounts whose names have a currency. @throws Error with one line when several could be the price */
function addPriceColumns({ columns = [], value = {} }: SourceRecord, request: ImportArguments): Mapping {
  const { mapping, set, cells } = request;
  const isFree = (field: string) =>
    !mapping.has(field) && !set.has(field) && pickMember(value, field) === undefined;
  return new Map([...mapping, ...findPriceColumns(columns, isFree, cells)]);
}

/** Reports the currencies that names of columns have, since a word such as `all` may have been meant otherwise. */
function sayCurrencies(mapping: Mapping, { cells }: ImportArguments, { say }: Notices): void {
  for (const field of amountFields) {
    const column = mapping.get(field);
    const currency = column === undefined ? undefined : findColumnCurrency(column, cells);
    if (currency !== undefined) say(`the column "${column}" is read as ${field} in ${currency}`);
  }
}

/** Other shops than those of the presets also separate tags by commas, which are part of a tag here. */
function noteCommas(
  { columns, value = {} }: SourceRecord,
  mapping: Mapping,
  { cells }: ImportArguments,
  { note }: Notices,
): void {
  if (columns === undefined || cells.tagSeparator !== undefined) return;
  const tags = pickMember(value, mapping.get('tags') ?? 'tags');
  if (typeof tags === 'string' && /,/.test(tags) && !/^\[|[;|]/.test(tags)) note(oneTag);
}

const oneTag =
  'records have commas in their only tag: if they separate tags, import again with --tag-separator ,';

function toCandidate(record: SourceRecord, position: number, mapping: Mapping, mapper: Mapper): Candidate {
  const { line, raw, value, error = 'cannot be read', short } = record;
  if (value === undefined) return { line, raw, fields: undefined, error, position };
  const fields = addIdentity(mapper.map(value, record.columns), value);
  // An empty CSV cell means no value; in JSON, null and an empty description are values.
  if (record.columns === undefined) keepExplicit(value, mapping, fields);
  return { line, raw, fields, columns: mapping, position, short };
}

function keepExplicit(
  value: Readonly<Record<string, unknown>>,
  mapping: Mapping,
  mapped: Record<string, unknown>,
): void {
  for (const field of productFields) {
    if (mapped[field] !== undefined) continue;
    const given = value[mapping.get(field) ?? field];
    if (given === null || (given === '' && field === 'description')) mapped[field] = given;
  }
}

const required = ['name', 'price'] as const;

const maxNames = 1000;

/**
 * Collects the names of members in records of JSON, which has no header, and finds out which required fields no record
 * has, since their members have other names, such as `title`.
 */
function createMemberWatch({ mapping, set }: Pick<ImportArguments, 'mapping' | 'set'>) {
  const missing = new Set(required.filter(field => !mapping.has(field) && !set.has(field)));
  const names = new Set<string>();
  return {
    names,
    watch({ value, columns }: SourceRecord): void {
      if (value === undefined || columns !== undefined) return;
      for (const field of missing) if (pickMember(value, field) !== undefined) missing.delete(field);
      // An export from a catalog also has members that only the service writes.
      if (names.size > maxNames || readExportIdentity(value) !== undefined) return;
      for (const name in value) names.add(name);
    },
    describe: (): string[] =>
      names.size === 0
        ? []
        : [...missing].map(
            field =>
              `no record has a member "${field}": name it with --map ${field}=MEMBER, one of ${[...names].join(', ')}`,
          ),
  };
}

const notHeader = '; if a later line names the columns, add its number: --header-line 2';

/** @param proposal suggests a preset, if a shop has written the file; empty otherwise */
function checkColumns(record: SourceRecord, { mapping, set }: ImportArguments, proposal: string): void {
  const { value: first = {}, columns } = record;
  const names = Object.keys(first).join(', ');
  const hint = columns !== undefined && columns.filter(name => name !== '').length < 2 ? notHeader : '';
  requireMapped(first, mapping, hint);
  // Each record of JSON may have other members, and is refused by itself, unless no record of the file can be read.
  if (columns === undefined && proposal === '') return;
  const repeated = findRepeatedAttribute(columns ?? [], mapping);
  if (repeated !== undefined) throw new Error(`of the columns, ${repeated}`);
  for (const field of required) {
    if (mapping.has(field) || set.has(field) || pickMember(first, field) !== undefined) continue;
    throw new Error(
      proposal || `there is no column "${field}": name it with --map ${field}=COLUMN, one of ${names}${hint}`,
    );
  }
}
