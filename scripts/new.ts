/**
 * `npm run new -- resource NAME [SINGULAR]`: creates a resource that is served, described and tested at once. It is
 * modelled on todos: private to the user who creates it, with a title and whether it is done. Change its fields before
 * releasing it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { namesOf, Refused } from './new/names.ts';
import { planResource } from './new/resource.ts';

const root = join(import.meta.dir, '..');
const usage = `Usage: npm run new -- resource NAME [SINGULAR]

Creates a resource modelled on todos, with its endpoints, descriptions and tests. CONTRIBUTING.md lists the next steps.

NAME is the plural in lower-case letters, as in notes, with a hyphen between words, as in gift-cards; SINGULAR is needed
where it is not NAME without its s.

Exit status: 0 the resource was created; 1 the name is taken, and nothing was written; 2 the command line is wrong.`;

const args = process.argv.slice(2);
if (args.includes('--help') || args.includes('-h')) {
  console.log(usage);
  process.exit();
}
try {
  const files = planResource(root, namesOf(args));
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
