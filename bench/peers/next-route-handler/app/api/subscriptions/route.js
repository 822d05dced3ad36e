import { headers } from "next/headers";
import { auth } from "../../../../subscriptions/auth.js";
import { limiter } from "../../../../subscriptions/limiter.js";
import { listSubscriptions, Query } from "../../../../subscriptions/list-subscriptions.js";

export async function GET(request) {
  const session = await auth.api.getSession({ headers: await headers() });
  if (!session) return Response.json({ error: "Unauthorized" }, { status: 401 });

  let usage;
  try {
    usage = await limiter.consume(session.user.id);
  } catch (refused) {
    if (refused instanceof Error) throw refused;
    return Response.json(
      { error: "Too many requests. Please wait a moment." },
      { status: 429, headers: { "Retry-After": String(Math.ceil(refused.msBeforeNext / 1000)) } },
    );
  }

  const query = Query.safeParse(Object.fromEntries(request.nextUrl.searchParams));
  if (!query.success) return Response.json({ error: query.error.issues[0].message }, { status: 400 });

  const page = await listSubscriptions(session.user.id, query.data);
  return Response.json(page, { headers: { "X-RateLimit-Remaining": String(usage.remainingPoints) } });
}
