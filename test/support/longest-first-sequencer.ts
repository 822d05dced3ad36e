import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest, longest first; everything else follows in Vitest's own order. */
const LONGEST = [
  /test\/system\/browser\/accessibility\./,
  /test\/cli\/(simulate|doctor|usage|accounts|webhooks)\./,
  /test\/system\/surfaces/,
  /test\/system\/(crash|browser|server)\//,
  /test\/(operations\/checkout|providers\/(outbound\/contract|fuzz)|intake\/http-fuzz)\./,
  /test\/system\//,
];

/** Starts long files first, so that none of them is left to run alone at the end on a machine without a cache. */
export class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => rankOf(a.moduleId) - rankOf(b.moduleId));
  }
}

function rankOf(file: string): number {
  const rank = LONGEST.findIndex((pattern) => pattern.test(file));
  return rank === -1 ? LONGEST.length : rank;
}
