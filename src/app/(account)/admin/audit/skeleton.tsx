import { Skeleton } from "../../../../ui/skeleton.tsx";
import { TableSkeleton } from "../../../../ui/table-skeleton.tsx";

export function AuditSkeleton() {
  return (
    <>
      <Skeleton className="mb-2 h-7 w-40" />
      <Skeleton className="mb-6 h-5 w-full max-w-xl" />
      <Skeleton className="mb-4 h-36 w-full" />
      <TableSkeleton rows={10} />
    </>
  );
}
