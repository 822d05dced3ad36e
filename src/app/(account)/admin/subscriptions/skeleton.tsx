import { Skeleton } from "../../../../ui/skeleton.tsx";
import { TableSkeleton } from "../../../../ui/table-skeleton.tsx";

export function SubscriptionsSkeleton() {
  return (
    <>
      <Skeleton className="mb-2 h-7 w-72" />
      <Skeleton className="mb-6 h-5 w-full max-w-xl" />
      <TableSkeleton rows={8} />
    </>
  );
}
