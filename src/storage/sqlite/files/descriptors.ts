/** Finds the files that processes have open, where /proc shows them. */
import { readlinkSync } from 'node:fs';
import { readNames } from '../../../secrets/private-files.ts';

/** The descriptor under which a process has a file open. @param id of the process, or `self` */
export function findDescriptor(id: string, file: string): string | undefined {
  const folder = `/proc/${id}/fd`;
  return readNames(folder).find(descriptor => readTarget(`${folder}/${descriptor}`) === file);
}

/** Undefined if the descriptor was closed since the list was read, as the one that the list was read with. */
function readTarget(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
