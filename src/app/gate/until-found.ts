import { unstable_rethrow } from "next/navigation";

/**
 * For a tab's title: Next.js takes it from the message that is shown in place of a missing or forbidden page.
 * Any other failure is left to the page.
 */
export async function untilFound(loading: Promise<unknown>): Promise<void> {
  await loading.catch((error: unknown) => unstable_rethrow(error));
}
