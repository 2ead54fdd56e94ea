// The adapters' types: programs in ../../types are compiled, and what is wrong in them is refused.
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

test('what users write has types', () => {
  execFileSync(process.execPath, [here('../../../node_modules/typescript/bin/tsc'), '-p', here('../../types')], { stdio: ['ignore', 'inherit', 'inherit'] });
});
