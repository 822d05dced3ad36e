import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest, longest first; everything else follows in Vitest's own order. */
const LONGEST = [
  /test\/(system\/surfaces\/surfaces|proof\/disorder|system\/browser\/accessibility)\./,
  /test\/system\/(browser\/(whole-life|journey|administration)|crash\/\w.*)\./,
  /test\/(proof\/hostile|cli\/simulate|system\/server\/disorder|api\/as-documented|limits\/failover)\./,
  /test\/(operations\/checkout|reconcile\/reconcile|intake\/several-processes|cli\/doctor|auth\/database)\./,
  /test\/system\/(browser|server|security)\//,
  /test\/(providers\/(outbound\/contract|fuzz)|simulator\/product|mail\/notification-mail|billing\/checkout-interleavings)\./,
  /test\/(intake\/(retry-job|poison|contention|http-fuzz)|store\/embedded\/embedded|proof\/\w.*|import\/switch-guide|cli\/\w.*)\./,
  /test\/(system|app)\//,
];

/**
 * Starts long files first, so that none of them is left to run alone at the end on a machine without a cache.
 */
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
