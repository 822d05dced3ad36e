import { cache } from "react";
import type { z } from "zod";
import { execute } from "../../../../operations/operation.ts";
import { searchUsers } from "../../../../operations/users/search-users.ts";
import { refusalOf } from "../../../gate/refusal.ts";
import { currentRequest, requireUser } from "../../../gate/request.ts";
import { throwUnavailable } from "../../../gate/unavailable.ts";

type FoundUser = z.output<typeof searchUsers.output>["items"][number];

/**
 * `null` when there is no such user. Exempt from limits, as a part of another action. @throws Refusal unless
 * an administrator asks
 */
export const findUser = cache(async (id: string): Promise<FoundUser | null> => {
  // Not observed either: it is not a call of its own.
  const request = await currentRequest();
  const deps = { ...request.deps, observe: null };
  const call = { caller: await requireUser(), charges: [], isExempt: true };
  try {
    const { items } = await execute(searchUsers, deps, call, () => ({
      search: id,
      limit: 1,
    }));
    const [first] = items;
    return first?.id === id ? first : null;
  } catch (error) {
    if (refusalOf(error)?.code === "invalid_input") return null;
    return throwUnavailable(request)(error);
  }
});
