/**
 * `npm run new -- resource NAME [SINGULAR]`: a resource that is served, described and tested at once. It has the shape of
 * todos: private to the user who makes it, with a title and whether it is done. Change its fields before it is released.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { namesOf, Refused } from './new/names.ts';
import { planResource } from './new/resource.ts';

const root = join(import.meta.dir, '..');
const usage = `Usage: npm run new -- resource NAME [SINGULAR]

NAME is the plural in lower-case letters, as in notes; SINGULAR is needed where it is not NAME without its s.`;

try {
  const files = planResource(root, namesOf(process.argv.slice(2)));
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    console.log(path);
  }
  console.log(`\nNow change its fields, and run: npm run format && npm run openapi && npm run client`);
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.error(`new: ${error.message}`);
  if (error.status === 2) console.error(`\n${usage}`);
  process.exit(error.status);
}
